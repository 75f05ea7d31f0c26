/**
 * Certificates of a bus in a cluster, as Secrets: one for the servers and one for each user. Names and keys are those that
 * cert-manager uses, so it can take over these Secrets.
 */
import { type Role, userOf } from "denrei/bus";
import { clusterRoles } from "../authorization.ts";
import { type CertificateAuthority, createCertificateAuthority, type KeyPair } from "../local/pki.ts";
import { needWebhook } from "./crds.ts";
import type { Layout } from "./layout.ts";
import { admissionName, labelsOf } from "./rbac.ts";

type Manifest = Record<string, unknown>;

/** The Secret with the certificate of a user or of the servers. */
export const certificateSecretName = (name: string): string => `${name}-tls`;
/** The Service of the bus, and the prefix of its certificate's Secret. */
export const natsName = "nats";

/** Host names at which clients reach the servers: the Services, and `localhost` behind `kubectl port-forward`. */
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

/** Host names at which the API server reaches the webhook. */
const webhookNames = (namespace: string): string[] => [
  `${admissionName}.${namespace}.svc`,
  `${admissionName}.${namespace}.svc.cluster.local`,
];

/** The user as which servers of a cluster authenticate to each other. No process uses it. */
export const peerName = userOf(natsName);

/** Host names at which the servers of a cluster reach each other. */
export const peerNames: readonly string[] = [0, 1, 2].map((at) => `${natsName}-${at}.${natsName}-headless`);

/** A new authority. It signs all certificates of an installation, and its key is not stored. */
export const createBusAuthority = (): CertificateAuthority => createCertificateAuthority("denrei");

/** Users of the bus whose certificates are in one namespace. */
export interface BusClients {
  /** Default: the namespace of the bus. */
  readonly namespace?: string | undefined;
  readonly roles: readonly Pick<Role, "name">[];
}

/** Options of {@link certificateManifests}. */
export interface CertificateOptions {
  /** Default: a new one. */
  readonly authority?: CertificateAuthority;
  /** All projects on the bus. Default: the layout. */
  readonly projects?: readonly BusClients[];
}

/** Roles of which one for the whole bus is enough. */
const atTheBus = ["backup", "restore"];

/**
 * Secrets with certificates that are valid for a year. The key of their authority is not stored, so adding a certificate
 * means creating all of them again.
 */
export function certificateManifests(
  layout: Layout,
  namespace: string,
  {
    authority = createBusAuthority(),
    // Users are the same in every cluster.
    projects = [{ roles: clusterRoles(layout, "default") }],
  }: CertificateOptions = {},
): Manifest[] {
  return [
    secret(natsName, namespace, authority, authority.server(serverNames(namespace))),
    secret(peerName, namespace, authority, authority.peer({ user: peerName }, peerNames)),
    ...usersOf(projects, namespace).map(([user, at]) =>
      secret(user, at, authority, authority.client({ user })),
    ),
    ...webhookCertificates(layout, namespace, authority),
  ];
}

/** Each user once per namespace: projects in one namespace share those of the platform's roles. */
function usersOf(projects: readonly BusClients[], ofBus: string): (readonly [user: string, at: string])[] {
  const users = projects.flatMap(({ namespace: at = ofBus, roles }) =>
    roles
      .filter(({ name }) => at === ofBus || !atTheBus.includes(name))
      .map(({ name }) => [userOf(name), at] as const),
  );
  return [...new Map(users.map((one) => [one.join("/"), one])).values()];
}

/** The Secret of the webhook, if a kind needs one. */
export const webhookCertificates = (
  { functions }: Layout,
  namespace: string,
  authority: CertificateAuthority,
): Manifest[] =>
  needWebhook(functions)
    ? [secret(admissionName, namespace, authority, authority.server(webhookNames(namespace)))]
    : [];

function secret(name: string, namespace: string, authority: CertificateAuthority, keys: KeyPair): Manifest {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: certificateSecretName(name), namespace, labels: labelsOf(name) },
    type: "kubernetes.io/tls",
    data: {
      "tls.crt": base64(keys.cert),
      "tls.key": base64(keys.key),
      "ca.crt": base64(authority.cert),
    },
  };
}
