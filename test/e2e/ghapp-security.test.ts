/** Tokens, private keys, and webhook secrets appear only where they belong. */
import { createPrivateKey } from "node:crypto";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import type { FaultAnswer } from "../../deploy/simulators/github/faults.ts";
import { ClusterGitHubApp, GitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { annotations, TokenSecret } from "../../functions/ghapp/secret.ts";
import { examplePayload } from "../github/payloads.ts";
import { type GatewayReplica, hookSecret } from "../harness/environment.ts";
import { type GhApps, pemKey, platformNamespace, startGhApps } from "../harness/ghapp.ts";
import { base64 } from "../harness/secretvalues.ts";
import { has } from "../harness/testobjects.ts";
import { Event } from "../ket/event.ts";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
/** A string in the format of a token that GitHub quotes in its answers; it belongs to no one. */
const quoted = {
  token: "ghs_QuotedByGitHub0123456789abcdefghijkl",
  jwt: "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMDAwMDEifQ.c2lnbmVkQnlOb2JvZHk",
};

let ghapps: GhApps;
let gateway: GatewayReplica;
let ids: number[];
/** All messages on the bus while this file ran. */
const said: string[] = [];
beforeAll(async () => {
  const installations = Array.from({ length: 16 }, () => ({ account: "acme" }));
  ghapps = await startGhApps({ apps: [{ webhookSecret: hookSecret, installations }] });
  ids = ghapps.github.apps[0]?.installations.map(({ id }) => id) ?? [];
  const { nc } = ghapps.bus;
  nc.subscribe(">", {
    callback(_, message) {
      said.push(message.subject, String(message.headers ?? ""), message.string());
    },
  });
  await nc.flush();
  gateway = await ghapps.environment.gateway("gateway-1");
  ghapps.github.deliverTo([gateway.hookUrl()]);
  await ghapps.namespace("team-a");
  for (const namespace of ["default", platformNamespace]) {
    await ghapps.keySecret(namespace);
    // As kubectl writes it.
    const found = await ghapps.secret("gh-app-key", namespace);
    const applied = { metadata: { annotations: { [lastApplied]: JSON.stringify(found) } } };
    await ghapps.patch(TokenSecret, { namespace, name: "gh-app-key" }, applied);
  }
  await ghapps.app("app");
  await ghapps.clusterApp("shared", { allowed: [{ namespaces: ["team-a"], repositories: ["acme/*"] }] });
});
afterAll(() => ghapps?.stop());

const create = (name: string, spec: Partial<Installation["spec"]> = {}, namespace?: string) =>
  ghapps.installation(name, { installationID: ids.pop() ?? 0, ...spec }, namespace);

const until = (name: string, status: "True" | "False", reason?: string, namespace = "default") =>
  ghapps.environment.until(Installation, { namespace, name }, has("Ready", status, reason));

function fault(answer: FaultAnswer, id = ids.at(-1)): { remove(): void } {
  const injected = ghapps.github.fault({ path: new RegExp(`/installations/${id}/access_tokens`) }, answer);
  onTestFinished(() => injected.remove());
  return injected;
}

test("with tokens in every format, refreshed and repaired", async () => {
  const { github, patch, touch } = ghapps;
  for (const length of [undefined, 520]) {
    github.issueTokens({ length });
    const by = (name: string) => `${name}-${length ?? "short"}`;
    await create(by("raw"));
    await create(by("basic"), { format: "basic-auth", key: undefined });
    await create(by("docker"), { format: "dockerconfigjson", key: undefined });
    await create(by("netrc"), { template: { immutable: true, stringData: { netrc: "password {{token}}" } } });
    for (const name of ["raw", "basic", "docker", "netrc"]) await until(by(name), "True");
    const due = { [annotations.refresh]: new Date().toISOString() };
    await patch(TokenSecret, by("netrc"), { metadata: { annotations: due } });
    await patch(TokenSecret, by("raw"), { data: { token: base64("changed") } });
    await touch(Installation, by("basic"));
    await ghapps.untilQuiet();
  }
  expect(new Set(github.tokens()).size).toBe(12);
});

test("with tokens that are rejected, revoked, or reported by webhook", async () => {
  const { github, environment, patch } = ghapps;
  const message = `the token ${quoted.token} and ${quoted.jwt} are no good`;
  fault({ status: 422, body: JSON.stringify({ message }) });
  await create("quoting");
  await until("quoting", "False", "Refused");
  fault({ status: 500, body: message });
  await create("quoting-text");
  await until("quoting-text", "False", "GitHubUnreachable");
  fault("reset");
  await create("broken");
  await until("broken", "False", "GitHubUnreachable");
  await create("invalid", { template: { data: { other: "?" } } });
  await until("invalid", "False", "SecretInvalid");

  const appRef = { kind: "ClusterGitHubApp" as const, name: "shared" };
  await create("shared", { appRef }, "team-a");
  await until("shared", "True", undefined, "team-a");
  await patch(ClusterGitHubApp, { name: "shared" }, { spec: { allowed: [{ repositories: ["acme/web"] }] } });
  await until("shared", "False", "NotAllowed", "team-a");

  const { spec } = await create("told");
  await until("told", "True");
  const payload = examplePayload("installation", { action: "suspend", installation: spec.installationID });
  expect(await github.send("installation", payload)).toMatchObject({ status_code: 202 });
  await environment.client.delete(Installation, { namespace: "default", name: "told" }, {});
  await ghapps.untilQuiet();
});

test("with keys that are damaged, of another App, or in the wrong place", async () => {
  const { github, environment, patch } = ghapps;
  const own = github.apps[0]?.privateKey ?? "";
  await ghapps.keySecret("default", "moved-key");
  await ghapps.app("moved", { privateKeySecretRef: { name: "moved-key", key: pemKey } });
  const untilApp = (reason: string) =>
    environment.until<KubeObject>(GitHubApp, { name: "moved" }, (app) =>
      has("Ready", reason === "Authenticated" ? "True" : "False", reason)(app),
    );
  await untilApp("Authenticated");
  await patch(TokenSecret, "moved-key", { data: { [pemKey]: base64(own.slice(0, 800)) } });
  await untilApp("KeyInvalid");
  const rotated = github.rotateKey();
  await patch(TokenSecret, "moved-key", { data: { [pemKey]: base64(own) } });
  await untilApp("KeyRejected");
  await patch(TokenSecret, "moved-key", { data: { [pemKey]: base64(rotated) } });
  await untilApp("Authenticated");
  await ghapps.untilQuiet();
  keys.push(own, rotated);
});

const keys: string[] = [];

/** A text as plain text, and as it appears inside base64, at any offset. */
function forms(text: string): string[] {
  const inside = [0, 1, 2].map((shift) =>
    base64("-".repeat(shift) + text).slice(shift === 0 ? 0 : shift + 1, -4),
  );
  return [text, ...inside, ...inside.map((one) => one.replaceAll("+", "-").replaceAll("/", "_"))];
}

/** The lines of a key, in GitHub's format and in the one in use. */
const linesOf = (pem: string): string[] =>
  [pem, createPrivateKey(pem).export({ type: "pkcs8", format: "pem" }) as string].flatMap((one) =>
    one.split("\n").filter((line) => line.length === 64),
  );

/** The secrets that a text contains. */
function leaks(text: string): string[] {
  const secrets = [...ghapps.github.tokens(), ...keys.flatMap(linesOf), hookSecret, ...Object.values(quoted)];
  const found = secrets.filter((secret) => forms(secret).some((form) => text.includes(form)));
  return [...found, ...(text.match(/eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g) ?? [])];
}

/** All messages of all streams. */
async function stored(): Promise<string[]> {
  const { jsm } = ghapps.bus;
  const texts: string[] = [];
  for await (const { config, state } of jsm.streams.list()) {
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await jsm.streams.getMessage(config.name, { seq }).catch(() => null);
      if (message) texts.push(message.subject, String(message.header), message.string());
    }
  }
  return texts;
}

test("no secret was on the bus, in a log, a status, an Event, or an annotation", async () => {
  const { environment, workers, bridge, github } = ghapps;
  // Events are written in the background.
  await ghapps.writes();
  expect(github.tokens().length).toBeGreaterThanOrEqual(15);
  expect(keys.flatMap(linesOf).length).toBeGreaterThan(90);
  const list = async (kind: Kind) => (await environment.client.list(kind)).items;
  const secrets: Stored[] = await list(TokenSecret);
  // The search finds secrets where they belong: those that are still in a Secret, and the key.
  expect(leaks(JSON.stringify(secrets)).length).toBeGreaterThan(50);

  const onBus = said.join("\n");
  for (const word of ["raw-520", "gh-app-key", "suspend", "TIMERS_installation"])
    expect(onBus).toContain(word);
  expect(leaks(onBus)).toEqual([]);
  const inStreams = (await stored()).join("\n");
  for (const word of ["raw-520", "gh-app-key", "timers.at.installation"]) expect(inStreams).toContain(word);
  expect(leaks(inStreams)).toEqual([]);

  const logs = [...workers, bridge, gateway].flatMap(({ log }) => log.all).join("\n");
  for (const word of ["token issued", "gateway ready", "blocked"]) expect(logs).toContain(word);
  expect(leaks(logs)).toEqual([]);

  const objects = (await Promise.all([Installation, GitHubApp, ClusterGitHubApp, Event].map(list))).flat();
  const metadata = secrets.map(({ metadata: { annotations = {}, ...rest } }) => {
    const { [lastApplied]: _applied, ...others } = annotations;
    return { ...rest, annotations: others };
  });
  const shown = JSON.stringify([objects, metadata]);
  for (const word of ["TokenIssued", "*** are no good", "TokenRevoked"]) expect(shown).toContain(word);
  expect(leaks(shown)).toEqual([]);
});
