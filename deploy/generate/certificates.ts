/**
 * Certificates of a bus in a cluster, as Secrets: the server's, and one for each user. The names and keys are those that
 * cert-manager writes, so that it can take their place.
 */
import { userOf } from "../../bus/nats/identity.ts";
import { type CertificateAuthority, createCertificateAuthority, type KeyPair } from "../local/pki.ts";
import { labelsOf } from "./rbac.ts";

type Manifest = Record<string, unknown>;

/** The Secret with the certificate of a user of the bus, or of the bus itself. */
export const secretOf = (name: string): string => `${name}-tls`;
/** The service of the bus, and what its certificate's Secret begins with. */
export const natsName = "nats";

/** Names that clients may call the servers by: the services, and `localhost` behind `kubectl port-forward`. */
export const serverNames = (namespace: string): string[] => [
  natsName,
  ...[natsName, `*.${natsName}-headless`].flatMap((service) => [
    `${service}.${namespace}`,
    `${service}.${namespace}.svc`,
    `${service}.${namespace}.svc.cluster.local`,
  ]),
  "localhost",
  "127.0.0.1",
];

/** As whom servers of a cluster know each other; no process is that user. */
export const peerName = userOf(natsName);

/** Names that the servers of a cluster call each other by. */
export const peerNames: readonly string[] = [0, 1, 2].map((at) => `${natsName}-${at}.${natsName}-headless`);

/**
 * Secrets with certificates for a year, signed by an authority whose key nobody keeps: whoever needs one more makes all
 * of them anew.
 */
export function certificateManifests(roles: readonly string[], namespace: string): Manifest[] {
  const authority = createCertificateAuthority("denrei");
  return [
    secret(natsName, namespace, authority, authority.server(serverNames(namespace))),
    secret(peerName, namespace, authority, authority.peer({ user: peerName }, peerNames)),
    ...roles.map(userOf).map((user) => secret(user, namespace, authority, authority.client({ user }))),
  ];
}

function secret(name: string, namespace: string, authority: CertificateAuthority, keys: KeyPair): Manifest {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: secretOf(name), namespace, labels: labelsOf(name) },
    type: "kubernetes.io/tls",
    data: {
      "tls.crt": base64(keys.cert),
      "tls.key": base64(keys.key),
      "ca.crt": base64(authority.cert),
    },
  };
}
