/** Who a worker is to PipeCD: a token of the control plane's own key, an API key, and TLS. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Secret } from "../../bus/kube/kind.ts";
import { Deployment } from "../../bus/kube/workloads.ts";
import { createCertificateAuthority } from "../../deploy/local/pki.ts";
import { Application, ControlPlane, Piped } from "../../functions/pipecd/kinds.ts";
import { type Pipecd, type SampleObject, startPipecd } from "../harness/pipecd.ts";
import { conditionOf, has } from "../harness/world.ts";

const authority = createCertificateAuthority("pipecd");
const server = authority.server(["127.0.0.1"]);

let pipecd: Pipecd;
beforeAll(async () => {
  pipecd = await startPipecd({ tls: server });
});
afterAll(() => pipecd?.stop());

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** A sample of v0.57.0 whose server speaks TLS, in a namespace of its own. */
async function withTls(
  namespace: string,
  change: (object: SampleObject) => SampleObject = (object) => object,
): Promise<void> {
  await pipecd.namespace(namespace);
  await pipecd.create(Secret, {
    metadata: { namespace, name: "server-tls" },
    type: "kubernetes.io/tls",
    data: {
      "tls.crt": base64(server.cert),
      "tls.key": base64(server.key),
      "ca.crt": base64(authority.cert),
    },
  });
  await pipecd.apply("c", namespace, (object) => {
    const { kind, spec } = object;
    if (kind === "ControlPlane")
      return change({ ...object, spec: { ...spec, tls: { secretName: "server-tls" } } });
    return change(
      spec ? { ...object, spec: { ...spec, ...("insecure" in spec && { insecure: false }) } } : object,
    );
  });
}

/** Full names of what was called. */
const calledIn = (namespace: string): string[] =>
  pipecd.pods.plane(namespace).calls.map(({ service, method }) => `${service.split(".").at(-1)}.${method}`);

test("a server with TLS is told of everything, and its certificate has to be of the authority that is given", async () => {
  await withTls("tls");
  const at = (name: string) => ({ namespace: "tls", name });
  await pipecd.kit.until(Application, at("application-sample"), has("Ready", "True"));
  const { spec } = await pipecd.kit.client.get(Deployment, at("controlplane-sample-server"));
  const { args = [] } = (spec.template?.spec?.containers?.[0] ?? {}) as { args?: string[] };
  expect(args).toContain("--tls=true");
  expect(args).toContain("--cert-file=/etc/pipecd-tls/tls.crt");

  const stranger = createCertificateAuthority("stranger");
  await pipecd.patch(Secret, at("server-tls"), { data: { "ca.crt": base64(stranger.cert) } });
  await pipecd.patch(Piped, at("piped-sample"), { spec: { description: "changed" } });
  const refused = await pipecd.kit.until(
    Piped,
    at("piped-sample"),
    has("Stalled", "True", "ServerNotTrusted"),
  );
  expect(conditionOf(refused, "Stalled")?.message).toMatch(/certificate/);
  await pipecd.patch(Secret, at("server-tls"), { data: { "ca.crt": base64(authority.cert) } });
  await pipecd.kit.until(
    Piped,
    at("piped-sample"),
    ({ status }) => status?.registered?.description === "changed",
  );
});

test("with keys that were made for its projects, all that the APIService has is asked of it", async () => {
  const namespace = "bootstrap";
  const at = (name: string) => ({ namespace, name });
  await withTls(namespace, (object) =>
    object.kind === "ControlPlane" ? { ...object, spec: { ...object.spec, bootstrapAPIKeys: true } } : object,
  );
  await pipecd.kit.until(ControlPlane, at("controlplane-sample"), has("APIKeysReady", "True"));
  await pipecd.kit.until(Application, at("application-sample"), has("Ready", "True"));
  const secretName = "controlplane-sample-api-keys";
  const { data, metadata } = await pipecd.kit.client.get(Secret, at(secretName));
  expect(Object.keys(data ?? {})).toEqual(["quickstart"]);
  expect(metadata.ownerReferences).toMatchObject([{ kind: "ControlPlane" }]);
  await pipecd.untilQuiet();

  // From now on there is a key.
  const before = calledIn(namespace).length;
  await pipecd.patch(Piped, at("piped-sample"), { spec: { description: "changed" } });
  await pipecd.kit.until(
    Piped,
    at("piped-sample"),
    ({ status }) => status?.registered?.description === "changed",
  );
  await pipecd.patch(Application, at("application-sample"), { spec: { cloudProvider: "other" } });
  await pipecd.kit.until(
    Application,
    at("application-sample"),
    ({ status }) => status?.registered?.provider === "other",
  );
  const later = calledIn(namespace).slice(before);
  expect(later).toContain("APIService.UpdatePiped");
  expect(later).toContain("APIService.UpdateApplication");
  expect(later).not.toContain("WebService.UpdatePiped");
  expect(later).not.toContain("WebService.UpdateApplication");

  // A key that is lost is worth nothing from then on.
  await pipecd.kit.client.delete(Secret, at(secretName), {});
  const renewed = await pipecd.kit.until(
    Secret,
    at(secretName),
    (found) => found.data?.quickstart !== undefined && found.data.quickstart !== data?.quickstart,
  );
  expect(renewed.metadata.uid).not.toBe(metadata.uid);
  expect(calledIn(namespace).filter((call) => call.endsWith("GenerateAPIKey"))).toHaveLength(2);
  expect(calledIn(namespace).filter((call) => call.endsWith("DisableAPIKey"))).toHaveLength(1);
});

test("an API key of one's own is used, and one that is not good is told of", async () => {
  const namespace = "own-key";
  const at = (name: string) => ({ namespace, name });
  await withTls(namespace, (object) =>
    object.kind === "Piped"
      ? { ...object, spec: { ...object.spec, apiKeySecretRef: { name: "own-key" } } }
      : object,
  );
  const waiting = await pipecd.kit.until(Piped, at("piped-sample"), has("Ready", "False", "SecretNotFound"));
  expect(conditionOf(waiting)?.message).toContain("own-key");
  await pipecd.create(Secret, { metadata: at("own-key"), data: { "api-key": base64("not.akey") } });
  await pipecd.kit.until(Piped, at("piped-sample"), has("Ready", "False", "Unauthenticated"));
  expect(pipecd.pods.plane(namespace).pipeds()).toEqual([]);
});
