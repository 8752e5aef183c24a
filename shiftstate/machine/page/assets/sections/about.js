// What the page stands on: preset, command, settings, versions, machine, files.

function facts(pairs) {
  return el("dl", {}, pairs.flatMap(([key, value]) => [el("dt", {}, name(key)), el("dd", {}, name(value))]));
}

function setting(value) {
  return Array.isArray(value) ? value.join(", ") : value === "" || value === null ? "none" : String(value);
}

const settings = (values) => facts(Object.entries(values).map(([key, value]) => [key, setting(value)]));

function plansShown() {
  const plans = data.experiments.map((experiment) => experiment.plan).filter(Boolean);
  const readings = [...new Set(plans.map((plan) => plan.reading))].filter(Boolean);
  const commands = [...new Set(plans.map((plan) => plan.command))];
  const note = (text) => el("p", { class: "note" }, text);
  if (!commands.length) {
    return trainings.length ? [note("These results belong to no preset, and their plan was not written down: the settings below are all there is.")] : [];
  }
  return [
    readings.length ? el("h3", {}, data.reading) : null,
    readings.map((reading) => el("blockquote", {}, el("p", {}, reading))),
    el("h3", {}, "To repeat it"),
    el("pre", { id: "command", tabindex: "0" }, commands.map((command) => `${command} --out ${data.out}`).join("\n")),
    commands.some((command) => command.includes(" --set ")) ? note("What stands after --set is not the preset's: the text above holds except for that.") : null,
    note(data.plan_recorded ? "Every seed follows from the settings, so the same versions give the same numbers."
      : "The run did not write its plan down: this is the smallest preset that all results belong to."),
  ];
}

function settingsShown(experiment) {
  const { common, own } = experiment.settings;
  if (!Object.keys(common).length && !own.length) return null;
  return el("details", {}, el("summary", {}, `Settings of ${experiment.title}`), settings(common),
    own.map((one) => [el("h3", {}, `Only ${one.title}`), settings(one.settings)]));
}

function showAbout() {
  section("how", "How it was made", plansShown(), el("h3", {}, "Record"), facts(data.record),
    data.versions.length ? el("h3", {}, data.versions.length > 1 ? "Versions and machines" : "Versions and machine") : null,
    data.versions.map((one) => facts(Object.entries(one))), data.experiments.map(settingsShown),
    data.files.length ? el("h3", {}, "Files beside this page") : null,
    data.files.length ? el("p", {}, data.files.flatMap((file, place) => [place ? " · " : "", el("a", { href: encodeURIComponent(file) }, name(file))])) : null);
}
