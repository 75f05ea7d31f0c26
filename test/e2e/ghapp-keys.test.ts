/** The keys of GitHubApps and ClusterGitHubApps as their Secrets change. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { parsePrivateKey } from "../../bus/github/key.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { ClusterGitHubApp, GitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { TokenSecret } from "../../functions/ghapp/secret.ts";
import { type GhApps, pemKey, platformNamespace, startGhApps } from "../harness/ghapp.ts";
import { base64 } from "../harness/secretvalues.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

const timeout = 60_000;

let ghapps: GhApps;
beforeAll(async () => {
  ghapps = await startGhApps({ apps: [{}, {}, {}] });
});
afterAll(() => ghapps?.stop());

/** The App, once its condition Ready has this status and only its function has changed it. */
async function untilApp(name: string, status: "True" | "False", reason: string): Promise<Stored<GitHubApp>> {
  const app = await ghapps.environment.until(GitHubApp, { name }, has("Ready", status, reason));
  expect(app.metadata.generation).toBe(1);
  return app;
}

const stored = (pem: string, key = pemKey) => ({ data: { [key]: base64(pem) } });

test("reports each problem with a key together with the remedy, and recovers when the Secret is corrected", async () => {
  const { github, environment } = ghapps;
  const [own, other] = github.apps.map(({ privateKey }) => privateKey) as [string, string];
  const at = { namespace: "default", name: "late-key" };
  await ghapps.app("late", { privateKeySecretRef: { name: at.name, key: pemKey } });
  await ghapps.installation("late", { appRef: { kind: "GitHubApp", name: "late" } });
  const untilReported = async (reason: string, ...words: string[]) => {
    const app = await untilApp("late", "False", reason);
    for (const word of words) expect(conditionOf(app)?.message).toContain(word);
    expect(conditionOf(app, "Stalled")).toMatchObject({ status: "True", reason });
    await environment.until(Installation, { name: "late" }, has("Ready", "False", reason));
  };

  await untilReported("KeySecretNotFound", "found no Secret late-key in default with the App's private key");
  await ghapps.create(TokenSecret, { metadata: at, ...stored(own, "pem") });
  await untilReported("KeyNotFound", `the Secret late-key in default has no value under the key ${pemKey}`);
  await ghapps.patch(TokenSecret, at, stored("no key at all"));
  await untilReported("KeyInvalid", "expected a PEM RSA private key", "found a text without a PEM block");
  await ghapps.patch(TokenSecret, at, stored(own.slice(0, 400)));
  await expect
    .poll(
      async () => conditionOf(await environment.client.get(GitHubApp, { ...at, name: "late" }))?.message,
      {
        timeout,
      },
    )
    .toContain("a damaged PEM block");
  await ghapps.patch(TokenSecret, at, stored(other));
  await untilReported("KeyRejected", "answered 401", "Check that the private key belongs to this App");
  expect(ghapps.mints().filter(({ status }) => status === 201)).toEqual([]);

  await ghapps.patch(TokenSecret, at, stored(own));
  const ready = await untilApp("late", "True", "Authenticated");
  expect(ready.status).toMatchObject({ slug: "denrei", keyFingerprint: parsePrivateKey(own).fingerprint });
  await environment.until(Installation, { name: "late" }, has("Ready", "True"));
  await environment.until(GitHubApp, { name: "late" }, (app) => conditionOf(app, "Stalled") === undefined);

  const [token, minted] = [await ghapps.token("late"), ghapps.mints().length];
  await environment.client.delete(TokenSecret, at, {});
  await untilReported("KeySecretNotFound");
  await ghapps.create(TokenSecret, { metadata: at, ...stored(own) });
  await environment.until(Installation, { name: "late" }, has("Ready", "True"));
  await ghapps.untilQuiet();
  expect([await ghapps.token("late"), ghapps.mints().length]).toEqual([token, minted]);
});

test("reports an ID that belongs to no App or to another one, until it is corrected", async () => {
  const { github, environment } = ghapps;
  await ghapps.keySecret("default", "number-key");
  const privateKeySecretRef = { name: "number-key", key: pemKey };
  await ghapps.app("number", { appID: 7, privateKeySecretRef });
  for (const appID of [7, github.apps[1]?.id]) {
    await ghapps.patch(GitHubApp, "number", { spec: { appID } });
    const app = await environment.until(
      GitHubApp,
      { name: "number" },
      (found) => conditionOf(found)?.message.includes(`App ${appID} with the key SHA256:`) === true,
    );
    expect(conditionOf(app)).toMatchObject({ status: "False", reason: "KeyRejected" });
  }
  await ghapps.patch(GitHubApp, "number", { spec: { appID: github.apps[0]?.id } });
  await environment.until(GitHubApp, { name: "number" }, has("Ready", "True"));
});

test("notices a changed key, and Installations get new tokens", async () => {
  const { github, environment } = ghapps;
  const [, , app] = github.apps as [unknown, unknown, (typeof github.apps)[0]];
  const installationID = app.installations[0]?.id ?? 0;
  await ghapps.keySecret("default", "turned-key", app.privateKey);
  await ghapps.app("turned", {
    appID: app.id,
    privateKeySecretRef: { name: "turned-key", key: pemKey },
  });
  await ghapps.installation("turned", { appRef: { kind: "GitHubApp", name: "turned" }, installationID });
  await environment.until(Installation, { name: "turned" }, has("Ready", "True"));
  await ghapps.untilQuiet();
  const old = await ghapps.token("turned");
  expect(ghapps.mints(installationID)).toHaveLength(1);

  const pem = github.rotateKey(app.id);
  await ghapps.patch(TokenSecret, "turned-key", stored(pem));
  const { fingerprint } = parsePrivateKey(pem);
  await environment.until(
    GitHubApp,
    { name: "turned" },
    ({ status }) => status?.keyFingerprint === fingerprint,
  );
  await expect.poll(() => ghapps.token("turned"), { timeout }).not.toBe(old);
  await ghapps.untilQuiet();
  expect(await ghapps.use(await ghapps.token("turned"), "GET /repos/acme/web")).toBe(200);
  expect(ghapps.mints(installationID).map(({ status }) => status)).toEqual([201, 201]);
  const found = await environment.client.get(GitHubApp, { namespace: "default", name: "turned" });
  expect(conditionOf(found)?.status).toBe("True");
  expect(found.metadata.generation).toBe(1);
});

test("reads the key of a ClusterGitHubApp only in the platform's namespace, and that of a GitHubApp only in its own", async () => {
  const { environment } = ghapps;
  await ghapps.namespace("team-a");
  const privateKeySecretRef = { name: "placed-key", key: pemKey };
  const readyIs = (kind: typeof GitHubApp | typeof ClusterGitHubApp, at: object, reason: string) =>
    environment.until<KubeObject>(
      kind,
      { name: "placed", ...at },
      (app) => conditionOf(app)?.reason === reason,
    );
  await ghapps.keySecret("default", "placed-key");
  await ghapps.clusterApp("placed", { privateKeySecretRef });
  await ghapps.app("placed", { privateKeySecretRef }, "team-a");
  const cluster = await readyIs(ClusterGitHubApp, {}, "KeySecretNotFound");
  expect(conditionOf(cluster)?.message).toContain(`no Secret placed-key in ${platformNamespace}`);

  await ghapps.keySecret(platformNamespace, "placed-key");
  await readyIs(ClusterGitHubApp, {}, "Authenticated");
  const local = await readyIs(GitHubApp, { namespace: "team-a" }, "KeySecretNotFound");
  expect(conditionOf(local)?.message).toContain("no Secret placed-key in team-a");
  await ghapps.keySecret("team-a", "placed-key");
  await readyIs(GitHubApp, { namespace: "team-a" }, "Authenticated");
});

test("accepts the address of the API, and reports an invalid one", async () => {
  const { github, environment } = ghapps;
  await ghapps.keySecret("default", "gh-app-key");
  await ghapps.app("whole", { url: `${github.url}/api/v3/` });
  await environment.until(GitHubApp, { name: "whole" }, has("Ready", "True"));
  await ghapps.app("elsewhere", { url: "ftp://github.example.com" });
  const app = await environment.until(GitHubApp, { name: "elsewhere" }, has("Ready", "False", "UrlInvalid"));
  expect(conditionOf(app)?.message).toContain("Correct url, or leave it out for github.com");
  await ghapps.patch(GitHubApp, "elsewhere", { spec: { url: github.url } });
  await environment.until(GitHubApp, { name: "elsewhere" }, has("Ready", "True"));
});

test("an Installation without its App waits for it, and reports its deletion", async () => {
  const { environment } = ghapps;
  await ghapps.installation("orphan", { appRef: { kind: "GitHubApp", name: "later" } });
  const waiting = await environment.until(
    Installation,
    { name: "orphan" },
    has("Ready", "False", "AppNotFound"),
  );
  expect(waiting.status?.message).toBe("found no GitHubApp later in default");
  await ghapps.app("later");
  await environment.until(Installation, { name: "orphan" }, has("Ready", "True"));
  await environment.client.delete(GitHubApp, { namespace: "default", name: "later" }, {});
  await environment.until(Installation, { name: "orphan" }, has("Ready", "False", "AppNotFound"));
});
