/**
 * Simulates PipeCD pods that exit at start. kwok reports every pod as running, so a webhook marks these as not ready before
 * kwok sees them. A rollout then waits for them, as it does for crashing pods.
 */
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { notReadyAnnotation } from "@denrei/cli/local/index";
import { createCertificateAuthority } from "@denrei/cli/local/pki";
import { externalKind, type KubeObject } from "denrei/kinds";
import type { KubeClient } from "denrei/kubernetes";

/** The fields of a pod that determine which program it runs. */
export type NewPod = KubeObject<{
  readonly containers: readonly {
    readonly name: string;
    readonly image: string;
    readonly args?: readonly string[];
  }[];
}>;

/** Annotation of a crashed pod, with its last log line. */
export const crashAnnotation = "pipecd.simulator/crash";

interface Review {
  readonly request: { readonly uid: string; readonly object: NewPod; readonly namespace: string };
}

const WebhookConfiguration = externalKind({
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "MutatingWebhookConfiguration",
  plural: "mutatingwebhookconfigurations",
  scope: "Cluster",
});
const name = "pipecd-simulator";

/** Starts the webhook for pods with any of the selectors. `crashOf` returns the last log line of a pod that exits. */
export async function startPodAdmission(
  client: KubeClient,
  selectors: readonly object[],
  crashOf: (pod: NewPod, namespace: string) => Promise<string | undefined>,
): Promise<{ stop(): Promise<void> }> {
  const authority = createCertificateAuthority(name);
  const server = createServer(authority.server(["127.0.0.1"]), async (request, response) => {
    const { request: review } = (await json(request)) as Review;
    const problem = await crashOf(review.object, review.namespace).catch((error: unknown) => String(error));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(reviewResponse(review, problem)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await client.apply(WebhookConfiguration, configuration(port, authority.cert, selectors) as never, {
    fieldManager: name,
    force: "take-ownership",
  });
  return {
    async stop() {
      // The cluster may have stopped already.
      await client.delete(WebhookConfiguration, { name }, {}).catch(() => undefined);
      server.closeAllConnections();
      server.close();
    },
  };
}

const configuration = (port: number, cert: string, selectors: readonly object[]) => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  metadata: { name },
  webhooks: selectors.map((objectSelector, index) => ({
    name: `pods-${index}.pipecd.simulator`,
    clientConfig: {
      url: `https://127.0.0.1:${port}/`,
      caBundle: Buffer.from(cert).toString("base64"),
    },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"] }],
    objectSelector,
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    timeoutSeconds: 30,
    failurePolicy: "Ignore",
  })),
});

function reviewResponse({ uid, object }: Review["request"], problem: string | undefined): object {
  const annotations = { ...object.metadata.annotations, ...notReadyAnnotation, [crashAnnotation]: problem };
  const patch = [{ op: "add", path: "/metadata/annotations", value: annotations }];
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: {
      uid,
      allowed: true,
      ...(problem !== undefined && {
        patchType: "JSONPatch",
        patch: Buffer.from(JSON.stringify(patch)).toString("base64"),
      }),
    },
  };
}
