// What the page stands on: reading, command, settings, versions, machine, files.

function facts(pairs) {
  return el("dl", {}, pairs.filter(([, value]) => value !== null && value !== undefined).flatMap(([key, value]) =>
    [el("dt", {}, key), el("dd", {}, typeof value === "string" || typeof value === "number" ? name(value) : value)]));
}

function setting(value) {
  return Array.isArray(value) ? value.join(", ") : value === "" ? "none" : String(value);
}

const settings = (values) => facts(Object.entries(values).map(([key, value]) => [key, setting(value)]));

function plansShown() {
  const plans = data.experiments.filter((experiment) => experiment.plan);
  const readings = [...new Set(plans.map((experiment) => experiment.plan.reading))];
  const commands = [...new Set(plans.map((experiment) => experiment.plan.command))];
  return [
    readings.length ? el("h3", {}, "The reading of the paper") : null,
    readings.map((reading) => el("blockquote", {}, el("p", {}, reading))),
    commands.length ? el("h3", {}, "To repeat it") : null,
    commands.length ? el("pre", { id: "command", tabindex: "0" }, commands.map((command) => `${command} --out ${data.out}`).join("\n")) : null,
    commands.some((command) => command.includes(" --set ")) ? el("p", { class: "note" },
      "What stands after --set is not the preset's: its reading above holds but for that.") : null,
    commands.length ? el("p", { class: "note" }, data.plan_recorded ? "Every seed follows from the settings, so the same versions give the same numbers."
      : "The run did not write its plan down: this is the smallest preset that all results belong to.") : null,
    !commands.length && data.protocols.length ? el("p", { class: "note" },
      "These results belong to no preset, and their plan was not written down: the settings below are all there is.") : null,
  ];
}

function showAbout() {
  const made = data.provenance;
  const versions = made ? made.versions.map((one) => facts(Object.entries(one))) : [];
  const seeds = [...new Set(data.protocols.map((one) => one.common.seed).filter((seed) => seed !== undefined))];
  section("how", "How it was made", plansShown(),
    el("h3", {}, "Record"),
    facts([["page by", `shiftstate ${data.version}`],
      ...(made ? [["trainings", `${made.realizations}, ${made.training_hours} hours`], ["first finished", made.first_finished],
        ["last finished", made.last_finished], ["kernels", Object.entries(made.kernels).map(([key, count]) => `${key}: ${count}`).join(", ") || null],
        ["results version", made.results_version]] : []),
      ["root seed", seeds.length ? seeds.join(", ") : null]]),
    versions.length ? el("h3", {}, versions.length > 1 ? "Versions and machines" : "Versions and machine") : null, versions,
    data.protocols.map((one) => el("details", {}, el("summary", {}, `Settings of ${experimentTitle(one.experiment)}`), settings(one.common),
      Object.entries(one.own).map(([key, values]) => [el("h3", {}, `Only ${filterTitle(key)}`), settings(values)]).flat())),
    data.files.length ? el("h3", {}, "Files beside this page") : null,
    data.files.length ? el("p", {}, data.files.flatMap((file, place) => [place ? " · " : "", el("a", { href: encodeURIComponent(file) }, name(file))])) : null);
}
