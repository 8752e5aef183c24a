// The page from top to bottom.

function showHead() {
  document.getElementById("title").append(name(data.title));
  const badges = data.experiments.map((experiment) => el("li", { class: isPartial(experiment) ? "partial" : null },
    `${experiment.title}: ${progressText(experiment)}${isPartial(experiment) ? " (partial)" : ""}`));
  const diverged = data.experiments.flatMap((one) => one.cells).reduce((sum, cell) => sum + cell.diverged, 0);
  if (diverged) badges.push(el("li", {}, `${diverged} diverged; they count with the value they have`));
  if (!data.experiments.length && !data.run) badges.push(el("li", {}, "no finished training is stored yet"));
  document.getElementById("badges").append(...badges);
}

showHead();
showRun();
data.experiments.forEach(showExperiment);
showClaims();
showTrainings();
showCurves();
showTimes();
showLenses();
showNetworks();
showAbout();
drawCharts();
