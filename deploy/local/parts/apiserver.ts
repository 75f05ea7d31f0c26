/** kube-apiserver: RBAC, TLS from a throw-away authority, nothing between it and its etcd. */
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
  /** What the API server shows kubelets. */
  readonly clientCert: string;
  readonly clientKey: string;
  /** Signs service account tokens. */
  readonly signingKey: string;
  /** Verifies them. */
  readonly verificationKey: string;
}

/** Paths of what is to be written down of each request, and of where it is. */
export interface AuditFiles {
  readonly policy: string;
  readonly log: string;
}

/** What the API server needs besides its program. */
export interface ApiServerOptions extends PartOptions {
  readonly etcdUrl: string;
  readonly files: ControlPlaneFiles;
  /** The administrator that asks for readiness. */
  readonly trust: Trust;
  /** Where pods reach it, as the service "kubernetes"; undefined where none run. */
  readonly podsReachAt?: string | undefined;
  /** Admission plugins beside the default set. */
  readonly enabledAdmission: readonly string[];
  /** Admission plugins to leave out of the default set. */
  readonly disabledAdmission: readonly string[];
  /** Writes down who asks for what; undefined where nobody reads it. */
  readonly audit?: AuditFiles | undefined;
  /** Path of an `AuthenticationConfiguration`: whose tokens are trusted; undefined where nobody logs in. */
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
      // A clean end takes a second and saves nothing: the data goes with the run.
      closingSignal: "SIGKILL",
      onUnexpectedExit: options.onUnexpectedExit,
    });
    await child.start(options.signal);
    return Object.assign(child, { url });
  });
}

/** It refuses to publish a loopback address as the endpoint of the service "kubernetes". */
const forNobody = [
  "--bind-address=127.0.0.1",
  "--advertise-address=127.0.0.1",
  "--endpoint-reconciler-type=none",
  "--authorization-mode=RBAC",
];

const forPods = (address: string, { clientCert, clientKey }: ControlPlaneFiles): string[] => [
  "--bind-address=0.0.0.0",
  `--advertise-address=${address}`,
  "--authorization-mode=Node,RBAC",
  `--kubelet-client-certificate=${clientCert}`,
  `--kubelet-client-key=${clientKey}`,
];

/** A log that begins anew loses what was in it. */
const audited = ({ policy, log }: AuditFiles): string[] => [
  `--audit-policy-file=${policy}`,
  `--audit-log-path=${log}`,
  "--audit-log-maxsize=0",
];

function flags(options: ApiServerOptions): string[] {
  const { etcdUrl, files, podsReachAt, enabledAdmission, disabledAdmission, audit, authentication } = options;
  return [
    `--etcd-servers=${etcdUrl}`,
    ...(podsReachAt === undefined ? forNobody : forPods(podsReachAt, files)),
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

/** PEM of an authority, and an administrator to ask as. */
export interface Trust {
  readonly ca: string;
  readonly admin: KeyPair;
}

/** A handshake for each look would cost a busy machine more than the look. They close by themselves. */
const agents = new WeakMap<Trust, Agent>();

function agentFor(trust: Trust): Agent {
  const { ca, admin } = trust;
  const agent =
    agents.get(trust) ?? new Agent({ connect: { ca, cert: admin.cert, key: admin.key, timeout: 2000 } });
  agents.set(trust, agent);
  return agent;
}

/** Throws unless the URL answers 200 to an administrator over TLS that our authority vouches for. */
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
