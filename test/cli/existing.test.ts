/** `denrei demo` with KUBECONFIG and NATS_URL: on somebody's own cluster and bus. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { isNotFound } from "../../bus/kube/errors.ts";
import { redacted } from "../../bus/redact.ts";
import { Hikawa, Kiyoshi, Zundoko } from "../../functions/zundoko/kinds.ts";
import { type Kit, startKit } from "../harness/kit.ts";
import { hikawa } from "../harness/song.ts";
import { place, run, start } from "./program.ts";
import { said, song, words } from "./song.ts";

const patience = { timeout: 30_000, interval: 100 };
let kit: Kit;
const env = () => ({ ...song, KUBECONFIG: kit.platform.kubeconfigPath, NATS_URL: kit.platform.natsUrl });
const theirs = { namespace: "default", name: "hikawa-sample" };
beforeAll(async () => {
  kit = await startKit();
  // What somebody else has there already.
  await kit.client.create(Hikawa, hikawa(theirs.name, 86_400_000), { fieldManager: "test" });
});
afterAll(() => kit?.stop());

test("it runs there, beside what there is, and takes its own objects away", async () => {
  const here = place();
  const { code, stdout, stderr } = await run(["demo", "--workers", "2"], {
    env: { ...here.env, ...env() },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(
    `Using the cluster at ${kit.client.connection.server} and the bus at ${redacted(env().NATS_URL)}`,
  );
  expect(stdout).not.toContain("kube-apiserver");
  expect(said(stdout).map(([word]) => word)).toEqual([...words, "Kiyoshi!"]);
  const name = /^hikawa-sample-[a-z0-9]+(?= +500 +6 +true)/m.exec(stdout)?.[0];
  expect(stdout).toContain(`The Hikawa ${name} is deleted; the CRDs stay in the cluster.`);
  await kit.untilGone(Hikawa, { namespace: "default", name: name ?? "" });
  expect((await kit.client.get(Hikawa, theirs)).spec.intervalMillis).toBe(86_400_000);
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

test("Ctrl-C in the middle of a song takes its objects away, too", async () => {
  const here = place();
  const slow = { DENREI_ZUNDOKO_WORDS: "Doko" };
  const demo = start(["demo", "--workers", "1"], { env: { ...here.env, ...env(), ...slow } });
  const line = await demo.lines.until((text) => /-zundoko-002$/.test(text));
  demo.process.kill("SIGINT");
  const { code, signal, stdout, stderr } = await demo.ended;
  expect({ code, signal, stderr }).toEqual({ code: 130, signal: null, stderr: "" });
  expect(stdout).toContain("Stopping everything.");
  expect(stdout).not.toContain("$ kubectl");
  const name = /(hikawa-sample-\w+)-zundoko-002/.exec(line)?.[1] ?? "";
  const found = kit.client.get(Hikawa, { namespace: "default", name });
  await expect(found).rejects.toSatisfy(isNotFound);
  for (const kind of [Zundoko, Kiyoshi]) {
    const children = async () =>
      (await kit.list<Zundoko | Kiyoshi>(kind)).filter(({ metadata }) =>
        metadata.name.startsWith(`${name}-`),
      );
    await expect.poll(children, patience).toEqual([]);
  }
  expect(here.processes()).toEqual([]);
});
