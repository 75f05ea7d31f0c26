import { glob, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { circles, folderCircles } from "./circles.ts";
import { describeViolation, type Manifest, type SourceFile, violations } from "./imports.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

async function sourceFiles(): Promise<readonly SourceFile[]> {
  const files: SourceFile[] = [];
  for await (const path of glob("*/**/*.{ts,tsx,js,mjs}", {
    cwd: root,
    exclude: ["**/node_modules/**", "dashboard/web/dist/**", "dist/**"],
  })) {
    files.push({ path: path.replaceAll(sep, "/"), text: await readFile(join(root, path), "utf8") });
  }
  expect(files.length).toBeGreaterThan(50);
  return files;
}

async function manifests(): Promise<readonly Manifest[]> {
  const read = async (folder: string) =>
    JSON.parse(await readFile(join(root, folder, "package.json"), "utf8"));
  const repository = await read("");
  return Promise.all(
    ["", ...repository.workspaces].map(async (folder) => ({ folder, ...(await read(folder)) })),
  );
}

test("imports follow the rules", async () => {
  expect(violations(await sourceFiles(), await manifests()).map(describeViolation)).toEqual([]);
});

test("the product has no circular imports", async () => {
  const product = (await sourceFiles()).filter(({ path }) => !path.startsWith("test/"));
  expect(circles(product).map((circle) => circle.join(" -> "))).toEqual([]);
});

test.each(["bus", "functions/paas", "functions/pipecd", "dashboard/server", "dashboard/web/src"])(
  "no folders of %s import each other in a circle",
  async (parent) => {
    const found = folderCircles(await sourceFiles(), parent);
    expect(found.map((circle) => circle.join(" -> "))).toEqual([]);
  },
);

test("a circle between folders is found, and neither tests nor files beside the folders count", () => {
  const from = (path: string, specifier: string) => ({ path, text: `import { a } from "${specifier}";` });
  const oneWay = [
    from("f/top.ts", "./a/x.ts"),
    from("f/a/x.ts", "../top.ts"),
    from("f/a/x.ts", "../b/y.ts"),
    from("f/b/y.test.ts", "../a/z.ts"),
    from("g/b/y.ts", "../a/x.ts"),
  ];
  expect(folderCircles(oneWay, "f")).toEqual([]);
  const back = from("f/b/c/deep.ts", "../../a/z.ts");
  expect(folderCircles([...oneWay, back], "f")).toEqual([["a", "b", "a"]]);
});

test.each([
  ["between two files", { "a/x.ts": "./y.ts", "a/y.ts": "./x.ts" }, ["a/x.ts", "a/y.ts", "a/x.ts"]],
  [
    "reached from another file",
    { "a/x.ts": "../b/y.ts", "b/y.ts": "./z.ts", "b/z.ts": "./y.ts" },
    ["b/y.ts", "b/z.ts", "b/y.ts"],
  ],
])("finds a circle %s", (_, imports, circle) => {
  const files = Object.entries(imports).map(([path, specifier]) => ({
    path,
    text: `import type { A } from "${specifier}";`,
  }));
  expect(circles(files)).toEqual([circle]);
});

test("accepts two paths to one file, and a file that is run", () => {
  const files = [
    { path: "a/x.ts", text: 'import { a } from "./y.ts";\nimport { b } from "./z.ts";' },
    { path: "a/y.ts", text: 'import { b } from "./z.ts";' },
    { path: "a/z.ts", text: 'const thread = new URL("./x.ts", import.meta.url);' },
  ];
  expect(circles(files)).toEqual([]);
});

const packages: readonly Manifest[] = [
  { folder: "", name: "repository", devDependencies: { vitest: "5" } },
  { folder: "bus", name: "denrei", dependencies: { zod: "4", "@nats-io/kv": "3" } },
  { folder: "functions", name: "@denrei/functions", dependencies: { denrei: "1" } },
  { folder: "dashboard", name: "@denrei/dashboard", dependencies: { denrei: "1", "@denrei/functions": "1" } },
  { folder: "deploy", name: "@denrei/cli", dependencies: { denrei: "1", "@denrei/dashboard": "1" } },
  { folder: "deploy/simulators", name: "@denrei/simulators", dependencies: { "@denrei/cli": "1" } },
  { folder: "test/ket", name: "@denrei/test", dependencies: { "@denrei/cli": "1" } },
];

describe("reports a wrong import:", () => {
  const problems = (path: string, text: string) => violations([{ path, text }], packages);

  test.each([
    ["bus/a.ts", "../functions/index.ts", "bus may import bus, but not functions"],
    ["bus/queue/a.ts", "../../deploy/cli/output.ts", "bus may import bus, but not deploy"],
    ["bus/a.test.ts", "../test/harness/environment.ts", "but not test"],
    ["bus/a.ts", "@denrei/functions", "bus may import bus, but not functions"],
    ["bus/a.ts", "denrei/kinds", "it is part of this project. Import the file."],
    ["functions/zundoko/a.ts", "../../deploy/cli/output.ts", "but not deploy"],
    ["functions/zundoko/a.ts", "../../bus/worker/function.ts", "Import it from its package, by name."],
    ["functions/zundoko/a.ts", "denrei/runtime", "functions import denrei, denrei/github"],
    ["functions/zundoko/a.ts", "@denrei/cli/output", "but not deploy"],
    ["functions/zundoko/a.ts", "../../test/harness/environment.ts", "but not test"],
    ["functions/zundoko/a.ts", "../paas/kinds.ts", "functions/zundoko may not import functions/paas"],
    ["functions/paas/a.ts", "../ghapp/kinds.ts", "functions/paas may not import functions/ghapp"],
    ["functions/zundoko/a.ts", "../ghapp/apitoken.ts", "functions/zundoko may not import functions/ghapp"],
    ["functions/zundoko/a.ts", "../index.ts", "functions/zundoko may not import functions/index.ts"],
    ["deploy/cli/a.ts", "../../test/harness/environment.ts", "but not test"],
    ["elsewhere/a.ts", "./b.ts", "add to test/checks/imports.ts what it may import"],
    ["bus/a.ts", "../dashboard/server/server.ts", "bus may import bus, but not dashboard"],
    ["dashboard/server/a.ts", "../../deploy/local/index.ts", "but not deploy"],
    ["dashboard/server/a.ts", "vitest", "it is a devDependency"],
    ["bus/a.ts", "../../elsewhere/b.ts", "it is outside the repository"],
    ["bus/a.ts", "vitest", "it is a devDependency"],
    ["deploy/cli/a.ts", "../simulators/kpack/kpack.ts", "but not deploy/simulators"],
    ["deploy/cli/a.ts", "@denrei/simulators/kpack/kpack", "but not deploy/simulators"],
    ["deploy/local/a.ts", "vitest/node", "it is a devDependency"],
    ["deploy/simulators/a.ts", "vitest", "it is a devDependency"],
    ["bus/a.ts", "@nats-io/jetstream", "package.json does not list it"],
    ["test/ket/a.ts", "../harness/environment.ts", "test/ket, deploy/simulators, deploy, bus, but not test"],
  ])("%s imports %s", (path, specifier, problem) => {
    const found = problems(path, `import { a } from "${specifier}";\n`);
    expect(found).toEqual([{ path, line: 1, specifier, problem: expect.stringContaining(problem) }]);
  });

  const wrong = "../functions/index.ts";
  test.each([
    ["a type", `import type { A } from "${wrong}";`],
    ["several lines", `import {\n  a,\n  b,\n} from "${wrong}";`],
    ["a default", `import a from "${wrong}";`],
    ["everything", `import * as a from "${wrong}";`],
    ["for its effects", `import "${wrong}";`],
    ["a re-export", `export { a } from "${wrong}";`],
    ["a re-export of everything", `export * from "${wrong}";`],
    ["a dynamic import", `const a = await import("${wrong}");`],
    ["the type of a module", `type A = typeof import("${wrong}");`],
    ["a file by URL", `const path = new URL("${wrong}", import.meta.url);`],
    ["JSON", `import a from "${wrong}" with { type: "json" };`],
  ])("%s", (_, statement) => {
    const found = problems(
      "bus/a.ts",
      `/** A comment. */\nimport { z } from "zod";\n\n// Another one.\n${statement}\n`,
    );
    expect(found).toEqual([
      { path: "bus/a.ts", line: 5, specifier: wrong, problem: expect.stringContaining("but not functions") },
    ]);
  });
});

test.each([
  ["bus/a.ts", "./queue/b.ts"],
  ["bus/a.ts", "node:fs/promises"],
  ["bus/a.ts", "@nats-io/kv/internal"],
  ["bus/a.test.ts", "vitest"],
  ["functions/index.ts", "./zundoko/hikawa.ts"],
  ["functions/zundoko/a.ts", "./kinds.ts"],
  ["functions/paas/a.ts", "../ghapp/apitoken.ts"],
  ["functions/zundoko/a.ts", "denrei"],
  ["functions/zundoko/a.test.ts", "../../bus/worker/function.ts"],
  ["test/e2e/a.test.ts", "../../deploy/local/index.ts"],
  ["test/deploy/a.test.ts", "../../package.json"],
  ["deploy/cli/a.ts", "@denrei/dashboard/server/server"],
  ["dashboard/web/src/a.tsx", "vitest"],
  ["deploy/simulators/pipecd/a.ts", "../kpack/informer.ts"],
  ["deploy/simulators/pipecd/a.ts", "@denrei/cli/local/pki"],
  ["test/ket/a.ts", "@denrei/cli/local/index"],
  ["test/dev/a.ts", "denrei"],
  ["test/kpack/a.test.ts", "../../deploy/simulators/kpack/kpack.ts"],
])("%s may import %s", (path, specifier) => {
  expect(violations([{ path, text: `import { a } from "${specifier}";` }], packages)).toEqual([]);
});

test("ignores imports in comments and strings", () => {
  const text = [
    "/**",
    ' * import { startLocalPlatform } from "../deploy/local/index.ts";',
    " */",
    '// import { a } from "../deploy/local/index.ts";',
    '  // as in import("../deploy/local/index.ts")',
    `const text = 'import { a } from "../deploy/local/index.ts";';`,
    'export const from = "../deploy/local/index.ts";',
    'const root = new URL("../..", import.meta.url);',
  ].join("\n");
  expect(violations([{ path: "bus/a.ts", text }], packages)).toEqual([]);
});
