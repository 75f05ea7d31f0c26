/** How a worker authenticates to PipeCD: a token signed with the control plane's key, an API key, and TLS. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Secret } from "../../bus/kube/kind.ts";
import { Deployment } from "../../bus/kube/workloads.ts";
import { createCertificateAuthority } from "../../deploy/local/pki.ts";
import { Application, ControlPlane, Piped } from "../../functions/pipecd/kinds.ts";
import { type Pipecd, startPipecd } from "../harness/pipecd.ts";
import { deadlineMillis } from "../harness/pipecdstack.ts";
import { base64, texts } from "../harness/secretvalues.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

const authority = createCertificateAuthority("pipecd");
const server = authority.server(["127.0.0.1"]);

const namespace = "tls";
const at = (name: string) => ({ namespace, name });

// Each test starts from the stack that the previous one left.
let pipecd: Pipecd;
beforeAll(async () => {
  pipecd = await startPipecd({ tls: server });
  await pipecd.namespace(namespace);
  await pipecd.create(Secret, {
    metadata: at("server-tls"),
    type: "kubernetes.io/tls",
    data: {
      "tls.crt": base64(server.cert),
      "tls.key": base64(server.key),
      "ca.crt": base64(authority.cert),
    },
  });
  await pipecd.apply("c", namespace, (object) => {
    const { kind, spec } = object;
    if (kind === "ControlPlane") return { ...object, spec: { ...spec, tls: { secretName: "server-tls" } } };
    return spec ? { ...object, spec: { ...spec, ...("insecure" in spec && { insecure: false }) } } : object;
  });
});
afterAll(() => pipecd?.stop());

/** Full names of the called methods. */
const called = (): string[] =>
  pipecd.pods.plane(namespace).calls.map(({ service, method }) => `${service.split(".").at(-1)}.${method}`);

test("calls a server with TLS whose certificate is signed by the given CA", async () => {
  await pipecd.environment.until(Application, at("application-sample"), has("Ready", "True"), deadlineMillis);
  const { spec } = await pipecd.environment.client.get(Deployment, at("controlplane-sample-server"));
  const { args = [] } = (spec.template?.spec?.containers?.[0] ?? {}) as { args?: string[] };
  expect(args).toContain("--tls=true");
  expect(args).toContain("--cert-file=/etc/pipecd-tls/tls.crt");

  const stranger = createCertificateAuthority("stranger");
  await pipecd.patch(Secret, at("server-tls"), { data: { "ca.crt": base64(stranger.cert) } });
  await pipecd.patch(Piped, at("piped-sample"), { spec: { description: "changed" } });
  const refused = await pipecd.environment.until(
    Piped,
    at("piped-sample"),
    has("Stalled", "True", "ServerNotTrusted"),
  );
  expect(conditionOf(refused, "Stalled")?.message).toMatch(/certificate/);
  await pipecd.patch(Secret, at("server-tls"), { data: { "ca.crt": base64(authority.cert) } });
  await pipecd.environment.until(
    Piped,
    at("piped-sample"),
    ({ status }) => status?.registered?.description === "changed",
  );
});

test("uses generated API keys of its projects for every method of the APIService", async () => {
  await pipecd.patch(ControlPlane, at("controlplane-sample"), { spec: { bootstrapAPIKeys: true } });
  await pipecd.environment.until(ControlPlane, at("controlplane-sample"), has("APIKeysReady", "True"));
  await pipecd.environment.until(Application, at("application-sample"), has("Ready", "True"));
  const secretName = "controlplane-sample-api-keys";
  const { data, metadata } = await pipecd.environment.client.get(Secret, at(secretName));
  expect(Object.keys(data ?? {})).toEqual(["quickstart"]);
  expect(metadata.ownerReferences).toMatchObject([{ kind: "ControlPlane" }]);
  await pipecd.untilQuiet();

  // From here on there is a key.
  const before = called().length;
  await pipecd.patch(Piped, at("piped-sample"), { spec: { description: "changed with a key" } });
  await pipecd.environment.until(
    Piped,
    at("piped-sample"),
    ({ status }) => status?.registered?.description === "changed with a key",
  );
  await pipecd.patch(Application, at("application-sample"), { spec: { cloudProvider: "other" } });
  await pipecd.environment.until(
    Application,
    at("application-sample"),
    ({ status }) => status?.registered?.provider === "other",
  );
  const later = called().slice(before);
  expect(later).toContain("APIService.UpdatePiped");
  expect(later).toContain("APIService.UpdateApplication");
  expect(later).not.toContain("WebService.UpdatePiped");
  expect(later).not.toContain("WebService.UpdateApplication");

  // A lost key is disabled. The Secret never contains a disabled one.
  const since = called().length;
  await pipecd.environment.client.delete(Secret, at(secretName), {});
  const renewed = await pipecd.environment.until(
    Secret,
    at(secretName),
    (found) =>
      ![undefined, data?.quickstart].includes(found.data?.quickstart) &&
      found.metadata.annotations?.["pipecd.kanatakita.com/older-keys"] === undefined,
  );
  expect(renewed.metadata.uid).not.toBe(metadata.uid);
  const changes = called()
    .slice(since)
    .filter((call) => /APIKey$/.test(call));
  expect(changes).toEqual(["WebService.GenerateAPIKey", "WebService.DisableAPIKey"]);
  const [id] = texts(renewed).quickstart?.split(".") ?? [];
  const keys = pipecd.pods.plane(namespace).apiKeys();
  expect(keys.filter(({ disabled }) => !disabled)).toMatchObject([{ id, name: "denrei" }]);
});

test("replaces an API key that was edited in its Secret, and disables the former one", async () => {
  const secret = at("controlplane-sample-api-keys");
  const { data } = await pipecd.environment.client.get(Secret, secret);
  const key = Buffer.from(data?.quickstart ?? "", "base64").toString();
  const [id, rest = ""] = key.split(".");
  // PipeCD lists the same ID.
  const edited = base64(`${id}.${rest.split("").reverse().join("")}`);
  await pipecd.patch(Secret, secret, { data: { quickstart: edited } });
  const renewed = await pipecd.environment.until(
    Secret,
    secret,
    (found) =>
      ![edited, data?.quickstart].includes(found.data?.quickstart) &&
      found.metadata.annotations?.["pipecd.kanatakita.com/older-keys"] === undefined,
  );
  const [newID] = texts(renewed).quickstart?.split(".") ?? [];
  const keys = pipecd.pods.plane(namespace).apiKeys();
  expect(keys.filter(({ disabled }) => !disabled)).toMatchObject([{ id: newID, name: "denrei" }]);
  await pipecd.patch(Piped, at("piped-sample"), { spec: { description: "changed with a renewed key" } });
  await pipecd.environment.until(
    Piped,
    at("piped-sample"),
    ({ status }) => status?.registered?.description === "changed with a renewed key",
  );
});

test("disables the API key of a removed project, and removes it from the Secret", async () => {
  const plane = at("controlplane-sample");
  const { spec } = await pipecd.environment.client.get(ControlPlane, plane);
  const projects = spec.config.projects ?? [];
  const configure = (all: typeof projects) =>
    pipecd.patch(ControlPlane, plane, { spec: { config: { projects: all } } });
  const entries = (...names: string[]) =>
    pipecd.environment.until(
      Secret,
      at("controlplane-sample-api-keys"),
      ({ data }) => Object.keys(data ?? {}).join() === names.join(),
    );
  await configure([...projects, { id: "second" }]);
  await entries("quickstart", "second");
  await pipecd.environment.until(ControlPlane, plane, has("Ready", "True"));
  await pipecd.untilQuiet();
  await configure(projects);
  await entries("quickstart");
  const keys = pipecd.pods.plane(namespace).apiKeys();
  expect(keys.filter(({ project, disabled }) => project === "second" && !disabled)).toEqual([]);
  expect(keys.filter(({ project, disabled }) => project === "quickstart" && !disabled)).toHaveLength(1);
  const { status } = await pipecd.environment.until(ControlPlane, plane, has("APIKeysReady", "True"));
  expect(conditionOf({ status } as never, "APIKeysReady")?.message).toBe("each project has an API key");
});

test("uses the user's own API key, and reports an invalid one", async () => {
  const [before] = pipecd.pods.plane(namespace).pipeds();
  expect(before?.description).toBe("changed with a renewed key");
  await pipecd.patch(Piped, at("piped-sample"), {
    spec: { apiKeySecretRef: { name: "own-key" }, description: "changed with a key of one's own" },
  });
  const waiting = await pipecd.environment.until(
    Piped,
    at("piped-sample"),
    has("Ready", "False", "SecretNotFound"),
  );
  expect(conditionOf(waiting)?.message).toContain("own-key");
  await pipecd.create(Secret, { metadata: at("own-key"), data: { "api-key": base64("not.akey") } });
  await pipecd.environment.until(Piped, at("piped-sample"), has("Ready", "False", "Unauthenticated"));
  expect(pipecd.pods.plane(namespace).pipeds()).toEqual([before]);
});
