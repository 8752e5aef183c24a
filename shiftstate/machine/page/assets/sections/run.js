// One run on somebody's own data: the verdict, the model beside others, and pictures.

function scoreTable({ caption, rows }) {
  const columns = [{ title: "model", name: true }, { title: "score" }, { title: "95 % interval" }];
  return table(caption, columns, [rows.map((row) => [{ cell: el(row.own ? "strong" : "span", {}, name(row.title)) },
    { cell: row.score, value: row.score, best: row.own }, { cell: row.interval || NONE }])], { id: "scores" });
}

function partTable(scores) {
  const metrics = Object.keys(scores[0][1]);
  const columns = [{ title: "metric", name: true }, ...scores.map(([part]) => ({ title: part }))];
  return table("All metrics of the model.", columns, [metrics.map((one) => [{ cell: name(one) },
    ...scores.map(([, values]) => ({ cell: values[one] ?? NONE, value: values[one] }))])]);
}

function showRun() {
  const { run } = data;
  if (!run) return;
  section("verdict", run.heading, el("p", { id: "run-verdict" }, el("strong", {}, run.verdict)), scoreTable(run), partTable(run.scores));
  section("pictures", "Training and errors", run.pictures.map(({ caption, source }) => el("figure", { class: "picture" },
    el("img", { src: source, alt: caption }), el("figcaption", {}, caption))));
}
