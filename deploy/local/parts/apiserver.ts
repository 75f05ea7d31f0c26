/** kube-apiserver with RBAC, TLS from a temporary authority, and its own etcd. */
import { Agent, request } from "undici";
import type { KeyPair } from "../pki.ts";
import type { Child } from "../run/child.ts";
import type { Run } from "../run/run.ts";
import type { PartOptions } from "./part.ts";
import { withFreePorts } from "./ports.ts";

/** A running API server. */
export interface ApiServer extends Child {
  /** `https://127.0.0.1:port`. */
  readonly url: string;
}

/** Paths of PEM files. */
export interface ControlPlaneFiles {
  readonly ca: string;
  readonly serverCert: string;
  readonly serverKey: string;
  /** Client certificate for requests to kubelets. */
  readonly clientCert: string;
  readonly clientKey: string;
  /** Signs service account tokens. */
  readonly signingKey: string;
  /** Verifies service account tokens. */
  readonly verificationKey: string;
}

/** Paths of the audit policy and the audit log. */
export interface AuditFiles {
  readonly policy: string;
  readonly log: string;
}

/** Options of the API server. */
export interface ApiServerOptions extends PartOptions {
  readonly etcdUrl: string;
  readonly files: ControlPlaneFiles;
  /** An administrator for the readiness probe. */
  readonly trust: Trust;
  /** Endpoint of the Service "kubernetes" for pods; undefined without real pods. */
  readonly podEndpoint?: string | undefined;
  /** Admission plugins in addition to the default set. */
  readonly enabledAdmission: readonly string[];
  /** Admission plugins to leave out of the default set. */
  readonly disabledAdmission: readonly string[];
  /** Enables the audit log. */
  readonly audit?: AuditFiles | undefined;
  /** Path of an `AuthenticationConfiguration`; undefined when only certificates authenticate. */
  readonly authentication?: string | undefined;
}

/** Starts the API server on a free port and waits for `/readyz`, which includes the bootstrap of RBAC roles. */
export function startApiServer(run: Run, options: ApiServerOptions): Promise<ApiServer> {
  return withFreePorts(1, async ([port]) => {
    const url = `https://127.0.0.1:${port}`;
    const child = run.child({
      name: "kube-apiserver",
      command: options.binary,
      args: [...flags(options), `--secure-port=${port}`],
      ready: () => expectOk(`${url}/readyz`, options.trust),
      readyMillis: 90_000,
      graceMillis: 3000,
      // A graceful end takes a second and saves nothing, since the data is removed with the run.
      closingSignal: "SIGKILL",
      onUnexpectedExit: options.onUnexpectedExit,
    });
    await child.start(options.signal);
    return Object.assign(child, { url });
  });
}

/** The API server refuses to publish a loopback address as the endpoint of the Service "kubernetes". */
const withoutPods = [
  "--bind-address=127.0.0.1",
  "--advertise-address=127.0.0.1",
  "--endpoint-reconciler-type=none",
  "--authorization-mode=RBAC",
];

const withPods = (address: string, { clientCert, clientKey }: ControlPlaneFiles): string[] => [
  "--bind-address=0.0.0.0",
  `--advertise-address=${address}`,
  "--authorization-mode=Node,RBAC",
  `--kubelet-client-certificate=${clientCert}`,
  `--kubelet-client-key=${clientKey}`,
];

/** Without rotation, which would lose older events. */
const audited = ({ policy, log }: AuditFiles): string[] => [
  `--audit-policy-file=${policy}`,
  `--audit-log-path=${log}`,
  "--audit-log-maxsize=0",
];

function flags(options: ApiServerOptions): string[] {
  const {
    etcdUrl,
    files,
    podEndpoint: podsReachAt,
    enabledAdmission,
    disabledAdmission,
    audit,
    authentication,
  } = options;
  return [
    `--etcd-servers=${etcdUrl}`,
    ...(podsReachAt === undefined ? withoutPods : withPods(podsReachAt, files)),
    "--service-cluster-ip-range=10.96.0.0/16",
    `--client-ca-file=${files.ca}`,
    `--tls-cert-file=${files.serverCert}`,
    `--tls-private-key-file=${files.serverKey}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-key-file=${files.verificationKey}`,
    `--service-account-signing-key-file=${files.signingKey}`,
    "--allow-privileged=true",
    "--profiling=false",
    ...(enabledAdmission.length > 0 ? [`--enable-admission-plugins=${enabledAdmission.join(",")}`] : []),
    ...(disabledAdmission.length > 0 ? [`--disable-admission-plugins=${disabledAdmission.join(",")}`] : []),
    ...(audit === undefined ? [] : audited(audit)),
    ...(authentication === undefined ? [] : [`--authentication-config=${authentication}`]),
  ];
}

/** PEM of the authority, and an administrator for probes. */
export interface Trust {
  readonly ca: string;
  readonly admin: KeyPair;
}

/** Reused, because a TLS handshake per poll would cost more than the poll. Idle connections close by themselves. */
const agents = new WeakMap<Trust, Agent>();

function agentFor(trust: Trust): Agent {
  const { ca, admin } = trust;
  const agent =
    agents.get(trust) ?? new Agent({ connect: { ca, cert: admin.cert, key: admin.key, timeout: 2000 } });
  agents.set(trust, agent);
  return agent;
}

/** Throws unless an administrator's GET of the URL returns 200 over TLS that the authority vouches for. */
export async function expectOk(url: string, trust: Trust): Promise<void> {
  const { statusCode, body } = await request(url, {
    dispatcher: agentFor(trust),
    headersTimeout: 5000,
    bodyTimeout: 5000,
  });
  const text = await body.text();
  if (statusCode !== 200) {
    const failed = text.split("\n").filter((line) => line.startsWith("[-]"));
    throw new Error(`${url} answered ${statusCode} ${(failed.join(", ") || text).slice(0, 300)}`);
  }
}
