import { expect, test } from "vitest";
import { loadErrorIn, locationsIn } from "./source.ts";

const root = "/home/me/denrei";

test.for([
  ["a path", `${root}/functions/a/b.ts:2`],
  ["a URL", `file://${root}/functions/a/b.ts:2`],
] as const)("finds a file that does not load by %s", ([, head]) => {
  const output = ["node:internal/modules/run_main:107", "    ^", "", head, "const b = ;", "          ^", ""];
  const rest = ["SyntaxError: Expression expected", "    at parseTypeScript (node:internal/x:72:36)", "{"];
  expect(loadErrorIn([...output, ...rest, "Node.js v24.21.0"], root)).toEqual({
    location: { file: "functions/a/b.ts", line: 2 },
    lines: ["const b = ;", "          ^", "SyntaxError: Expression expected"],
  });
});

test("locates an error in a foreign file at the project's own frame", () => {
  const output = [
    "denrei: unexpected error",
    "TypeError: no",
    "    at defineKind (file:///elsewhere/x.ts:1:1)",
    `    at file://${root}/functions/a/b.ts:7:3`,
  ];
  expect(loadErrorIn(output, root)).toEqual({
    location: { file: "functions/a/b.ts", line: 7 },
    lines: ["denrei: unexpected error", "TypeError: no"],
  });
});

test("returns the frames in functions/, or else those in bus/", () => {
  const bus = `    at attempt (file://${root}/bus/worker/attempt.ts:3:1)`;
  const own = `    at Object.reconcile (file://${root}/functions/a/b.ts:9:11)`;
  const others = `    at x (file://${root}/node_modules/y/z.js:1:1)\n    at process.emit (node:events:5:1)`;
  expect(locationsIn(`Error: x\n${own}\n${bus}\n${others}`, root)).toEqual([
    { file: "functions/a/b.ts", line: 9 },
  ]);
  expect(locationsIn(`Error: x\n${bus}\n${others}`, root)).toEqual([
    { file: "bus/worker/attempt.ts", line: 3 },
  ]);
});
