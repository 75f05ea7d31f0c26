/** Credentials replaced while a connection is used, and the forms in which they are configured. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { type KubeClient, kubeClient } from "../../bus/kube/client.ts";
import { loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { createCertificateAuthority } from "../../deploy/local/pki.ts";
import { base64 } from "../harness/secretvalues.ts";

const folder = mkdtempSync(join(tmpdir(), "test-connection-"));
const authority = createCertificateAuthority();
const strangers = createCertificateAuthority();
/** What the server accepts: an Authorization header or a certificate's common name. */
let welcome: { header?: string; user?: string } = {};
const asked: (string | undefined)[] = [];
let server: Server;
let url: string;

beforeAll(async () => {
  const options = { ...authority.server(["127.0.0.1"]), ca: authority.cert, requestCert: true };
  server = createServer({ ...options, rejectUnauthorized: false }, (request, response) => {
    const { authorization = "" } = request.headers;
    const socket = request.socket as TLSSocket;
    const user = socket.authorized ? String(socket.getPeerCertificate().subject.CN) : "";
    asked.push(authorization || user);
    const known = welcome.header === authorization || (user !== "" && welcome.user === user);
    const names = Object.entries(request.headersDistinct).filter(([name]) => name.startsWith("impersonate-"));
    const body = { impersonates: Object.fromEntries(names) };
    response.writeHead(known ? 200 : 401).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

const written = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

/** A kubeconfig (YAML is a superset of JSON). */
const kubeconfig = (name: string, user: object, ca = authority.cert): string =>
  written(
    name,
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server: url, "certificate-authority-data": base64(ca) } }],
      users: [{ name: "u", user }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "here" } }],
      "current-context": "x",
    }),
  );

async function clientOf(path: string): Promise<KubeClient> {
  return kubeClient(await openConnection(loadKubeconfig({ path })));
}
const ask = (client: KubeClient) =>
  client.request<{ impersonates: object }>({ method: "GET", path: "/version" });

test("rereads the token file after a 401 and repeats the call", async () => {
  const token = written("token", "old\n");
  const client = await clientOf(kubeconfig("token.json", { tokenFile: token }));
  welcome = { header: "Bearer old" };
  await ask(client);
  welcome = { header: "Bearer new" };
  writeFileSync(token, "new\n");
  asked.length = 0;
  await ask(client);
  await ask(client);
  expect(asked).toEqual(["Bearer old", "Bearer new", "Bearer new"]);
  expect(client.connection.namespace).toBe("here");
});

test("does not offer a refused token again if its file is unchanged", async () => {
  const client = await clientOf(kubeconfig("same.json", { token: "same" }));
  welcome = { header: "Bearer other" };
  asked.length = 0;
  await expect(ask(client)).rejects.toMatchObject({ status: 401 });
  expect(asked).toEqual(["Bearer same"]);
});

test("rereads the kubeconfig when its client certificate is refused", async () => {
  const userOf = (user: string) => {
    const { cert, key } = authority.client({ user });
    return { "client-certificate-data": base64(cert), "client-key-data": base64(key) };
  };
  const path = kubeconfig("certificate.json", userOf("old"));
  const client = await clientOf(path);
  welcome = { user: "old" };
  await ask(client);
  welcome = { user: "new" };
  kubeconfig("certificate.json", userOf("new"));
  asked.length = 0;
  await Promise.all([ask(client), ask(client), ask(client)]);
  expect(new Set(asked)).toEqual(new Set(["old", "new"]));
  expect(asked.filter((user) => user === "new")).toHaveLength(3);
});

test("trusts a server once its CA is in the kubeconfig", async () => {
  welcome = { header: "Bearer t" };
  const path = kubeconfig("authority.json", { token: "t" }, strangers.cert);
  const client = await clientOf(path);
  await expect(ask(client)).rejects.toThrow(/certificate/);
  kubeconfig("authority.json", { token: "t" });
  await expect
    .poll(
      () =>
        ask(client).then(
          () => "trusted",
          () => "not yet",
        ),
      { timeout: 30_000 },
    )
    .toBe("trusted");
});

test("keeps the previous kubeconfig while the file is being written", async () => {
  const path = kubeconfig("torn.json", { token: "t" });
  const client = await clientOf(path);
  writeFileSync(path, '{"clusters": [');
  welcome = { header: "Bearer t2" };
  await expect(ask(client)).rejects.toMatchObject({ status: 401 });
  welcome = { header: "Bearer t" };
  await ask(client);
});

test("reads basic authentication with the client library", async () => {
  welcome = { header: `Basic ${base64("me:secret")}` };
  await ask(await clientOf(kubeconfig("basic.json", { username: "me", password: "secret" })));
});

const plugin = {
  exec: {
    apiVersion: "client.authentication.k8s.io/v1",
    command: process.execPath,
    args: ["-e", "console.log(process.env.CREDENTIAL)"],
    env: [
      {
        name: "CREDENTIAL",
        value: JSON.stringify({
          apiVersion: "client.authentication.k8s.io/v1",
          kind: "ExecCredential",
          status: { token: "t" },
        }),
      },
    ],
    interactiveMode: "Never",
  },
};

test.each<readonly [string, object]>([
  ["a token", { token: "t" }],
  ["a token in a file", { tokenFile: written("as-token", "t\n") }],
  ["a credentials plugin", plugin],
  ["a token in a file, and a field that only the library reads", { tokenFile: "as-token", username: "" }],
])("a user with %s impersonates the named user, uid, groups, and extra fields", async (_, user) => {
  welcome = { header: "Bearer t" };
  const acting = {
    as: "somebody",
    "as-uid": "u-1",
    "as-groups": ["developers", "進行"],
    "as-user-extra": { "example.com/Scopes": ["view", "édit"], "a%(b)": ["c"] },
  };
  expect(await ask(await clientOf(kubeconfig("as.json", { ...user, ...acting })))).toEqual({
    impersonates: {
      "impersonate-user": ["somebody"],
      "impersonate-uid": ["u-1"],
      "impersonate-group": ["developers", received("進行")],
      "impersonate-extra-example.com%2fscopes": ["view", received("édit")],
      "impersonate-extra-a%25%28b%29": ["c"],
    },
  });
});

/** Node decodes each byte of a header as one character. */
const received = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

test("a user in the second of two kubeconfigs impersonates groups", async () => {
  welcome = { header: "Bearer t" };
  const { users, ...rest } = JSON.parse(
    readFileSync(kubeconfig("first.json", { token: "t", as: "somebody", "as-groups": ["a", "b"] }), "utf8"),
  );
  const paths = [
    written("first.json", JSON.stringify(rest)),
    written("second.json", JSON.stringify({ users })),
  ];
  vi.stubEnv("KUBECONFIG", paths.join(delimiter));
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await ask(kubeClient(await openConnection(loadKubeconfig())))).toEqual({
    impersonates: { "impersonate-user": ["somebody"], "impersonate-group": ["a", "b"] },
  });
});
