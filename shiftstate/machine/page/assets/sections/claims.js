// Claims, judged: one table for each family, and how many came out how.

const VERDICTS = [
  { verdict: "holds", kind: "holds", text: "✓ holds", counted: (n) => `${n} ${n === 1 ? "holds" : "hold"}` },
  { verdict: "does not hold", kind: "fails", text: "✗ does not hold", counted: (n) => `${n} ${n === 1 ? "does" : "do"} not hold` },
  { verdict: "undecided", kind: "open", text: "? undecided", counted: (n) => `${n} ${n === 1 ? "is" : "are"} undecided by these results` },
  { verdict: "not run", kind: "idle", text: "not run", counted: (n) => `${n} ${n === 1 ? "was" : "were"} not run`, seldom: true },
];

function claimRow(metric, one) {
  const known = VERDICTS.find(({ verdict }) => verdict === one.verdict) ?? { kind: "open", text: one.verdict };
  return [{ cell: el("span", {}, name(one.claim)) }, { cell: el("span", { class: `verdict ${known.kind}` }, known.text), value: one.verdict },
    { cell: signed(metric, one.effect), value: one.effect }, { cell: range(metric, one.interval, signed) },
    { cell: missing(one.p) ? NONE : number(Number(one.p.toPrecision(2))), value: one.p }, { cell: String(one.n), value: one.n }];
}

function claimTable({ title, note, metric, claims }) {
  const columns = [{ title: "claim", name: true }, { title: "verdict", name: true }, { title: withUnit("effect", differenceUnit(metric)) },
    { title: "95 % interval" }, { title: "p" }, { title: "n" }];
  return table(title ? `${title}. ${note}` : note, columns, [claims.map((one) => claimRow(metric, one))], { class: "claims" });
}

function showClaims() {
  const families = data.claims.filter((family) => family.claims.length);
  if (!families.length) return;
  const all = families.flatMap((family) => family.claims);
  const count = (verdict) => all.filter((one) => one.verdict === verdict).length;
  const counts = VERDICTS.filter(({ verdict, seldom }) => !seldom || count(verdict)).map(({ verdict, counted }) => counted(count(verdict)));
  section("claims", "Claims", el("p", {}, `Of ${all.length} claims ${counts.join(", ")}.`), families.map(claimTable));
}
