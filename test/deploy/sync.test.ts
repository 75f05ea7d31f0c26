/**
 * Replays what the dev profile of deploy/skaffold.yaml and its overlay do in a container: copy the files, start the process,
 * unpack saved files with tar like skaffold does, and run the hook.
 */
import { execFile } from "node:child_process";
import { cp, glob, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Child } from "../../deploy/local/index.ts";
import { openRun, type Run } from "../../deploy/local/run/run.ts";
import { linkPackages } from "../harness/linkpackages.ts";
import { Lines } from "../ket/lines.ts";
import { allOf, includedBy, stageNamed, stagesOf } from "./dockerfile.ts";
import { containerOf, find, root, type Workload } from "./manifests.ts";
import { overlay } from "./overlays.ts";
import { type Artifact, type Skaffold, skaffoldFile } from "./skaffold.ts";

const run = promisify(execFile);

/** A kubeconfig for an unreachable cluster: a worker waits for it, as for the bus. */
const nobodyThere = JSON.stringify({
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "away", cluster: { server: "https://127.0.0.1:9" } }],
  users: [{ name: "nobody", user: { token: "none" } }],
  contexts: [{ name: "away", context: { cluster: "away", user: "nobody" } }],
  "current-context": "away",
});

let skaffold: Skaffold;
let artifact: Artifact;
let worker: Workload;
/** The image's folder for our files, and the files copied into it. */
let workdir: string;
let copied: string[];
beforeAll(async () => {
  skaffold = await skaffoldFile();
  const dev = skaffold.profiles.find(({ name }) => name === "dev");
  artifact = dev?.build?.artifacts[0] as Artifact;
  worker = find<Workload>(await overlay("dev"), "Deployment", "denrei-hikawa");
  const stages = stagesOf(await readFile(join(root, artifact.docker.dockerfile), "utf8"));
  const stage = stageNamed(stages, "app");
  workdir = allOf(stage, "WORKDIR").at(-1) ?? "";
  copied = allOf(stage, "COPY")
    .filter((rest) => !rest.startsWith("--from="))
    .map((rest) => rest.split(" ")[0] ?? "");
  // Without kubectl, kustomize may have to be built first.
}, 900_000);

/** The files that match a pattern. */
async function matching(pattern: string, cwd: string): Promise<string[]> {
  const found: string[] = [];
  for await (const path of glob(pattern, { cwd })) found.push(path);
  return found;
}

describe("the set of synchronized files", () => {
  test("is every TypeScript source in the image, with the same paths", async () => {
    const kept = includedBy(await readFile(join(root, ".dockerignore"), "utf8"));
    const found = await Promise.all(
      copied.map((path) => (path.endsWith(".ts") ? [path] : matching(`${path}/**/*.ts`, root))),
    );
    const sources = found.flat().filter(kept).sort();
    const rules = artifact.sync?.manual ?? [];
    const matched = await Promise.all(rules.map(({ src }) => matching(src, join(root, artifact.context))));
    expect(matched.filter((files) => files.length === 0)).toEqual([]);
    expect(matched.flat().filter(kept).sort()).toEqual(sources);
    expect(sources.length).toBeGreaterThan(100);
    for (const { dest } of rules) expect(dest).toBe(workdir);
  });
});

describe("a container of the dev overlay", () => {
  let folder: string;
  let here: Run;
  let child: Child;
  const log = new Lines();
  /** The volume at the working directory, in a folder that stands for `/`. */
  let app: string;

  /** A command of the container, with paths adapted to that folder. */
  const moved = (command: readonly string[]): [string, string[]] => {
    const [program = "", ...args] = command.map((word) => word.replaceAll(/\/(app|writable)\b/g, app));
    return [program, args];
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "test-sync-"));
    app = join(folder, "container", workdir);
    const image = join(folder, "image");
    for (const source of copied) await cp(join(root, source), join(image, source), { recursive: true });
    linkPackages(image);
    await mkdir(app, { recursive: true });
    const [init] = worker.spec.template.spec.initContainers ?? [];
    const mounts = [init, containerOf(worker)].map((one) =>
      one?.volumeMounts.find(({ name }) => name === "app"),
    );
    expect(mounts.map((mount) => mount?.mountPath)).toEqual(["/writable", workdir]);
    await run(...moved(init?.command ?? []), { cwd: image });
    here = await openRun();
  });
  afterAll(async () => {
    await here?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("runs the worker", async () => {
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, nobodyThere);
    const { command = [], args = [] } = containerOf(worker);
    expect(command[0]).toBe("node");
    child = here.child({
      name: "worker",
      command: process.execPath,
      args: [...command.slice(1), ...args],
      cwd: app,
      env: { NATS_URL: "nats://127.0.0.1:9", KUBECONFIG: kubeconfig, VITEST: undefined },
      onLine: (line) => log.push(line),
      graceMillis: 60_000,
    });
    await child.start();
    await log.until((line) => line.includes('"msg":"starting"'));
  });

  test("runs every saved version after the previous process has stopped gracefully", async () => {
    const source = "functions/zundoko/hikawa.ts";
    const text = await readFile(join(root, source), "utf8");
    for (const save of ["first", "second", "third"]) {
      const from = log.all.length;
      const changed = join(folder, "changed", workdir, source);
      await mkdir(dirname(changed), { recursive: true });
      await writeFile(changed, `console.log("the ${save} save");\n${text}`);
      const pack = join(folder, "changed.tar");
      await run("tar", ["cf", pack, "-C", join(folder, "changed"), "."]);
      await run("tar", ["xmf", pack, "-C", join(folder, "container"), "--no-same-owner"]);
      for (const { container } of artifact.sync?.hooks.after ?? [])
        await run(...moved(container.command), { cwd: app });
      await log.until((line) => line === `the ${save} save`, 60_000, from);
      await log.until(
        (line) => line.includes('"msg":"starting"'),
        60_000,
        log.all.indexOf(`the ${save} save`),
      );
      expect(log.all.slice(from).filter((line) => line.includes('"stopped while starting"'))).toHaveLength(1);
    }
  });

  test("ends with the pod", async () => {
    const ended = child.exited();
    await child.stop();
    expect((await ended)?.signal).not.toBe("SIGKILL");
    expect(log.all.filter((line) => line.includes('"stopped while starting"'))).toHaveLength(4);
  });
});
