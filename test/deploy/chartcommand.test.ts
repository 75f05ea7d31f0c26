/** Tests of the command `denrei helm`. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { authorizationFile } from "../../deploy/generate/manifestfiles.ts";
import { chartFiles } from "../../deploy/helm/chart.ts";
import { identity } from "../../deploy/helm/sources.ts";
import { writeChart } from "../../deploy/helm/write.ts";
import { runHere } from "../cli/here.ts";
import { openChart, partsFor } from "./chart.ts";
import { find, root, type Workload } from "./manifests.ts";
import { parcels, printed } from "./projects.ts";

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "test-chart-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function chart(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await runHere(["helm", ...args]);
  if (code !== 0) throw new Error(stderr);
}

test("writes the chart with this version", async () => {
  const folder = await scratch();
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  await chart("--out", folder);
  const written = parse(await readFile(join(folder, "Chart.yaml"), "utf8")) as unknown;
  expect(written).toMatchObject({ name: "denrei", version, appVersion: version });
});

test("with --one-account, only the users differ", async () => {
  const cluster = "default";
  const [own, one] = await Promise.all(
    [false, true].map((oneAccount) => partsFor({ cluster, oneAccount }, parcels)),
  );
  const before = own && chartFiles(own);
  const differing = [...(one ? chartFiles(one) : [])].filter(([path, text]) => before?.get(path) !== text);
  expect(differing.map(([path]) => path)).toEqual(["templates/nats-config.yaml"]);
  const linesOf = (text = "") => text.split("\n").map((line) => line.trim());
  const users = one && authorizationFile(one.layout, { cluster, oneAccount: true });
  expect(linesOf(differing[0]?.[1])).toEqual(expect.arrayContaining(linesOf(users)));
});

test("replaces an older chart and its files", async () => {
  const folder = await scratch();
  const earlier = { "Chart.yaml": "version: 1.0.0", "templates/old.yaml": "" };
  await writeChart(folder, new Map(Object.entries(earlier)));
  await writeChart(folder, new Map([["Chart.yaml", "version: 2.0.0"]]));
  expect(await readdir(folder, { recursive: true })).toEqual(["Chart.yaml"]);
  expect(await readFile(join(folder, "Chart.yaml"), "utf8")).toBe("version: 2.0.0");
});

test("rejects a folder with other content", async () => {
  const folder = await scratch();
  await writeFile(join(folder, "notes"), "mine");
  await expect(chart("--out", folder)).rejects.toThrow(/to be empty or to hold a chart, found notes/);
  expect(await readFile(join(folder, "notes"), "utf8")).toBe("mine");
});

test("rejects an invalid cluster name", async () => {
  await expect(chart("--out", await scratch(), "--cluster", "Blue")).rejects.toThrow(
    /--cluster <name>' argument 'Blue' is invalid/,
  );
});

test("a user's project without webhooks has a chart without gateway and routes, and workers for its group", async () => {
  const { helm, template, folder, remove } = await openChart({ project: parcels });
  onTestFinished(remove);
  expect(parse(await readFile(join(folder, "Chart.yaml"), "utf8"))).toMatchObject({
    name: "operator",
    appVersion: "1.2.3",
  });
  expect((await helm(["lint", "--strict", folder])).code).toBe(0);
  const printedNames = (await printed(["--profile", "production"], { folder: parcels })).map(identity);
  const names = (await template()).map(identity);
  // Helm creates no namespace, and roles of users are not part of the chart.
  const others = /^Namespace |^ClusterRole denrei-(view|edit|admin|bus-viewer)$/;
  const withoutHash = (name: string) => name.replace(/-[bcdfghkmt2456789]{10}$/, "");
  expect(names.sort()).toEqual(
    printedNames
      .filter((name) => !others.test(name))
      .map(withoutHash)
      .sort(),
  );
  const posts = await template({ functions: { post: { replicas: 5 } }, admission: { replicas: 3 } });
  expect(find<Workload>(posts, "Deployment", "denrei-post").spec.replicas).toBe(5);
  await expect(template({ gateway: { replicas: 1 } })).rejects.toThrow(/gateway/);
});
