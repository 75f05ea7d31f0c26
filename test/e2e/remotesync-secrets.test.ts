/** What a RemoteSync needs besides its repository: Secrets, an account, and its own Application. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { externalKind, Secret, type SecretObject } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { ServiceAccount } from "../../bus/kube/workloads.ts";
import { Application, RemoteSync } from "../../functions/paas/kinds.ts";
import { type Paas, secrets, startPaas } from "../harness/paas.ts";
import { type RemoteSyncs, remoteSyncs } from "../harness/remotesyncs.ts";
import { base64 } from "../harness/secretvalues.ts";
import { conditionOf } from "../harness/testobjects.ts";

interface Pod extends KubeObject {
  readonly spec: {
    readonly serviceAccountName?: string;
    readonly containers: readonly { readonly image: string }[];
  };
}
const Pod = externalKind<Pod>({ group: "", version: "v1", kind: "Pod", plural: "pods" });
const timeout = 60_000;
const namespace = "default";

let paas: Paas;
let syncs: RemoteSyncs;
let token: Stored<SecretObject>;
beforeAll(async () => {
  paas = await startPaas({ gateways: 1 });
  syncs = remoteSyncs(paas);
  token = await secret(secrets.git);
});
afterAll(() => paas?.stop());

const secret = (name: string) => paas.environment.client.get(Secret, { namespace, name });

/** Creates a Secret with the token, or with the given parts of it. */
const tokenSecret = (
  name: string,
  {
    annotations = token.metadata.annotations,
    ...more
  }: Partial<SecretObject> & { annotations?: object } = {},
) =>
  paas.create(Secret, {
    metadata: { namespace, name, annotations: annotations as never },
    type: token.type,
    data: token.data,
    ...more,
  });

const account = (name: string) =>
  paas.environment.client.get(ServiceAccount, { namespace, name: `modoki-${name}-builder` });
const namesIn = async (name: string) => {
  const { secrets: all = [], imagePullSecrets: pulls = [] } = await account(name);
  return { secrets: all.map((one) => one.name), pulls: pulls.map((one) => one.name) };
};

async function create(name: string, github: Partial<RemoteSync["spec"]["base"]["github"]>): Promise<void> {
  await Promise.all([paas.application(name), syncs.branch(name)]);
  await paas.remoteSync(name, { branch: name, ...github });
}

// First, because each change of the site triggers all RemoteSyncs.
test("reports wrong settings of the site in a condition, which correct ones clear", async () => {
  await syncs.start("site");
  await paas.site({ "config.yaml": "builder: 7" });
  await syncs.until("site", "SiteConfigInvalid");
  await paas.site({ "config.yaml": JSON.stringify({ github: { url: paas.github.url } }) });
  await syncs.ready("site");
});

test("waits for a missing git Secret without a request to GitHub", async () => {
  syncs.asked();
  await create("missing", { secretName: "token-missing" });
  const { status } = await syncs.until("missing", "SecretNotFound");
  expect(status?.message).toMatch(/found no Secret token-missing in default/);
  await paas.untilQuiet();
  expect(syncs.asked()).toEqual([]);
  expect(await syncs.image("missing")).toBeUndefined();
  await tokenSecret("token-missing");
  await syncs.ready("missing");
});

test.each<[string, Parameters<typeof tokenSecret>[1]]>([
  ["type", { type: "Opaque" }],
  ["annotation", { annotations: {} }],
])(
  "treats a git Secret with a wrong %s as missing, and continues once it is replaced",
  async (what, wrong) => {
    const name = `wrong-${what}`;
    await tokenSecret(name, wrong);
    syncs.asked();
    await create(name, { secretName: name });
    const { status } = await syncs.until(name, "SecretNotFound");
    expect(status?.message).toContain(`found no Secret ${name} `);
    expect(syncs.asked()).toEqual([]);
    expect(await syncs.image(name)).toBeUndefined();
    await paas.environment.client.delete(Secret, { namespace, name }, {});
    await tokenSecret(name);
    await syncs.ready(name);
  },
);

test("does not retry a rejected token until it is replaced, and then once", async () => {
  await tokenSecret("rejected", { data: { ...token.data, password: base64("ghs_nobody") } });
  await create("rejected", { secretName: "rejected" });
  const { status } = await syncs.until("rejected", "TokenRejected");
  expect(status?.message).toContain("was answered 401");
  await syncs.allRolledOut();
  await paas.untilQuiet();
  const before = await syncs.get("rejected");
  const writes = await paas.writes();
  syncs.asked();
  for (let count = 0; count < 10; count++) await paas.touch(Application, "rejected");
  await paas.untilQuiet();
  expect(syncs.asked()).toEqual([]);
  expect(await syncs.get("rejected")).toEqual(before);
  // Those of the Application's function, which has nothing to write.
  expect((await paas.writes()) - writes).toBe(0);
  await paas.patch(Secret, "rejected", { data: token.data ?? {} });
  await syncs.ready("rejected");
  expect(syncs.asked()).toEqual(["GET /repos/acme/web", "GET /repos/acme/web/branches/rejected"]);
});

test("uses a Secret as soon as the spec names it correctly", async () => {
  await tokenSecret("misnamed", { data: { ...token.data, password: base64("ghs_nobody") } });
  await create("misnamed", { secretName: "misnamed" });
  await syncs.until("misnamed", "TokenRejected");
  await paas.patch(RemoteSync, "misnamed", { spec: { base: { github: { secretName: secrets.git } } } });
  await syncs.ready("misnamed");
});

test("a rotated token causes no request while everything is ready", async () => {
  await tokenSecret("rotated");
  await syncs.branch("rotated");
  await syncs.start("rotated", { branch: "rotated", secretName: "rotated" });
  await syncs.allRolledOut();
  await paas.untilQuiet();
  const writes = await paas.writes();
  syncs.asked();
  for (let count = 0; count < 5; count++)
    await paas.patch(Secret, "rotated", { metadata: { annotations: { rotated: String(count) } } });
  await paas.untilQuiet();
  expect(syncs.asked()).toEqual([]);
  expect((await paas.writes()) - writes).toBe(0);
});

test("the account follows renamed Secrets, and keeps those of others", async () => {
  await syncs.start("renamed");
  const foreign = [{ name: "theirs" }];
  await paas.create(Secret, { metadata: { namespace, name: "theirs" } });
  const { secrets: ours = [], imagePullSecrets: pulls = [] } = await account("renamed");
  await paas.patch(ServiceAccount, "modoki-renamed-builder", {
    secrets: [...ours, ...foreign],
    imagePullSecrets: [...foreign, ...pulls],
  });
  const { data, type } = await secret(secrets.registry);
  await paas.create(Secret, { metadata: { namespace, name: "regcred-2" }, data, type });
  await tokenSecret("token-2");
  await paas.patch(RemoteSync, "renamed", {
    spec: { base: { github: { secretName: "token-2" } }, image: { secretName: "regcred-2" } },
  });
  await expect
    .poll(() => namesIn("renamed"), { timeout })
    .toEqual({ secrets: ["theirs", "token-2", "regcred-2"], pulls: ["theirs", "regcred-2"] });
  await syncs.ready("renamed");
  const { spec } = await paas.environment.until(Application, { name: "renamed" }, (app) =>
    Boolean(app.spec.imagePullSecrets?.some(({ name }) => name === "regcred-2")),
  );
  expect(spec.imagePullSecrets).toEqual([{ name: "regcred-2" }]);

  await paas.patch(RemoteSync, "renamed", { spec: { image: { secretName: "regcred-3" } } });
  await syncs.until("renamed", "SecretNotFound");
  // Nothing that would fail every build.
  expect((await namesIn("renamed")).secrets).not.toContain("regcred-3");
});

test("restores its Secrets in the account, and the account itself", async () => {
  await syncs.start("taken-out");
  const name = "modoki-taken-out-builder";
  const wanted = await namesIn("taken-out");
  await paas.patch(ServiceAccount, name, { secrets: [{ name: "theirs" }], imagePullSecrets: null });
  await expect
    .poll(() => namesIn("taken-out"), { timeout })
    .toEqual({ secrets: ["theirs", ...wanted.secrets], pulls: wanted.pulls });
  await paas.environment.client.delete(ServiceAccount, { namespace, name }, {});
  await expect.poll(() => namesIn("taken-out").catch(() => undefined), { timeout }).toEqual(wanted);
});

test("pods of the application do not run as the account that builds it", async () => {
  const { status } = await syncs.start("runtime");
  const accounts = async () => {
    const pods = (await paas.environment.list(Pod)).filter(({ spec }) =>
      spec.containers.some(({ image }) => image === status?.latestImage),
    );
    return pods.map(({ spec }) => spec.serviceAccountName);
  };
  await expect.poll(accounts, { timeout }).toEqual(["default"]);
  expect((await syncs.image("runtime"))?.spec.serviceAccountName).toBe("modoki-runtime-builder");
});

test("waits for a missing Application, with its image built", async () => {
  await syncs.branch("early");
  await paas.remoteSync("early", { branch: "early" });
  const early = await syncs.until("early", "ApplicationNotFound");
  expect(conditionOf(early, "Built")?.status).toBe("True");
  await paas.untilQuiet();
  syncs.asked();
  await paas.application("early");
  const { status } = await syncs.ready("early");
  expect((await syncs.application("early")).spec.image).toBe(status?.latestImage);
  expect(syncs.asked()).toEqual([]);
  expect(await syncs.builds("early")).toHaveLength(1);
});

test("of two with one Application, the younger reports it and does nothing until the older is deleted", async () => {
  const elder = await syncs.start("elder");
  // Creation times have a resolution of one second.
  await expect
    .poll(() => Date.now() - Date.parse(elder.metadata.creationTimestamp ?? ""), { timeout })
    .toBeGreaterThan(1000);
  await syncs.branch("younger");
  await paas.remoteSync("younger", { branch: "younger" }, { applicationRef: { name: "elder" } });
  const younger = await syncs.until("younger", "ApplicationConflict");
  expect(younger.status?.message).toContain("already has an older RemoteSync, elder");
  await syncs.allRolledOut();
  await paas.untilQuiet();
  const writes = await paas.writes();
  const changes = await paas.changes();
  await paas.replay(changes);
  const theirs = changes.filter(({ data }) => /elder|younger/.test(Buffer.from(data).toString()));
  expect(theirs.length).toBeGreaterThan(4);
  for (let count = 0; count < 9; count++) await paas.replay(theirs);
  await paas.untilQuiet();
  expect((await paas.writes()) - writes).toBe(0);
  expect(await syncs.image("younger")).toBeUndefined();
  expect((await syncs.application("elder")).spec.image).toBe(elder.status?.latestImage);
  await paas.environment.client.delete(RemoteSync, { namespace, name: "elder" }, {});
  const { status } = await syncs.ready("younger");
  expect((await syncs.application("elder")).spec.image).toBe(status?.latestImage);
});

test("changes nothing while paused, and then catches up with commits that were pushed meanwhile", async () => {
  const { status } = await syncs.start("paused");
  await paas.patch(RemoteSync, "paused", { spec: { paused: true } });
  await syncs.until("paused", "Paused");
  syncs.asked();
  const revision = await syncs.push("paused");
  await paas.untilQuiet();
  expect(syncs.asked()).toEqual([]);
  expect((await syncs.image("paused"))?.spec.source.git.revision).toBe(status?.revision);
  await paas.patch(RemoteSync, "paused", { spec: { paused: false } });
  await syncs.ready("paused", revision);
});
