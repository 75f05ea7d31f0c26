/** Starts etcd, kube-apiserver, kube-controller-manager, and nodes with certificates from a temporary authority. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Issuer, type IssuerEnvironment, writeAuthentication } from "./identities.ts";
import { kubeconfigText } from "./kubeconfig.ts";
import { type NodeParts, type NodesSpec, startNodes } from "./nodes.ts";
import {
  type ApiServer,
  type AuditFiles,
  type ControlPlaneFiles,
  startApiServer,
  type Trust,
} from "./parts/apiserver.ts";
import { startControllerManager } from "./parts/controller-manager.ts";
import { type Etcd, startEtcd } from "./parts/etcd.ts";
import { type PartObserver, startObserved } from "./parts/part.ts";
import { startScheduler } from "./parts/scheduler.ts";
import {
  type CertificateAuthority,
  createCertificateAuthority,
  createSigningKey,
  type Validity,
} from "./pki.ts";
import type { Child } from "./run/child.ts";
import type { Run } from "./run/run.ts";

/** Paths of the programs. Without a controller manager, garbage is not collected and no controller creates pods. */
export interface ControlPlaneBinaries {
  readonly etcd: string;
  readonly apiserver: string;
  readonly controllerManager?: string | undefined;
  /** Without nodes, pods never run. */
  readonly nodes?: NodesSpec | undefined;
}

/** A running control plane. */
export interface ControlPlane {
  /** An administrator's kubeconfig (group system:masters). */
  readonly kubeconfigPath: string;
  readonly etcd: Etcd;
  readonly apiserver: ApiServer;
  readonly controllerManager: Child | undefined;
  /** The processes that simulate nodes; undefined without nodes. */
  readonly nodes: NodeParts | undefined;
  /** Undefined without nodes. */
  readonly scheduler: Child | undefined;
  /**
   * Writes a kubeconfig for another user and returns its path. RBAC decides what the user may do. A second call for the same
   * user replaces the credentials in the file.
   */
  kubeconfigFor(user: string, groups?: readonly string[], validity?: Validity): Promise<string>;
  /** Audit log of an audited API server: one `audit.k8s.io/v1` event per line, without request bodies. */
  readonly auditLogPath: string | undefined;
}

/** Options of the control plane. */
export interface ControlPlaneOptions {
  /**
   * Called with an administrator's kubeconfig when the API server is ready, before its controllers start. The garbage
   * collector knows kinds created here from the start; it discovers later ones after half a minute.
   */
  readonly prepare?: ((kubeconfigPath: string) => Promise<void>) | undefined;
  /** For real pods, on nodes that the caller runs. They reach the API server at `address`. */
  readonly pods?: { readonly address: string; readonly scheduler: string } | undefined;
  /** Enables the audit log: {@link ControlPlane.auditLogPath}. */
  readonly audited?: boolean | undefined;
  /**
   * Rejects owner references with `blockOwnerDeletion` from users who may not change the owner's finalizers, as some clusters
   * do.
   */
  readonly ownersProtected?: boolean | undefined;
  /** Starts an OpenID Connect issuer before the API server, which trusts its tokens. */
  readonly identities?: ((environment: IssuerEnvironment) => Promise<Issuer>) | undefined;
}

/** Starts the parts in order, each one after the previous is ready. If one fails, the caller has to close the run. */
export async function startControlPlane(
  run: Run,
  binaries: ControlPlaneBinaries,
  { prepare, pods, audited, ownersProtected, identities, ...observer }: PartObserver & ControlPlaneOptions,
): Promise<ControlPlane> {
  const authority = createCertificateAuthority();
  const files = await writeFiles(join(run.directory, "pki"), authority, pods ? [pods.address] : []);
  const trust = {
    ca: authority.cert,
    admin: authority.client({ user: "admin", groups: ["system:masters"] }),
  };

  const audit = audited ? await writeAuditPolicy(run.directory) : undefined;
  const [etcd, authentication] = await Promise.all([
    startObserved("etcd", binaries.etcd, observer, (options) => startEtcd(run, options)),
    identities && writeAuthentication(run.directory, authority, identities),
  ]);
  const apiserver = await startObserved("kube-apiserver", binaries.apiserver, observer, (options) =>
    startApiServer(run, {
      ...options,
      etcdUrl: etcd.url,
      files,
      trust,
      podEndpoint: pods?.address,
      audit,
      authentication,
      enabledAdmission: ownersProtected ? ["OwnerReferencesPermissionEnforcement"] : [],
      disabledAdmission: disabledAdmission(binaries, pods !== undefined),
    }),
  );

  async function writeKubeconfig(file: string, user: string, credentials = authority.client({ user })) {
    const path = join(run.directory, file);
    const text = kubeconfigText({ server: apiserver.url, ca: authority.cert, user, credentials });
    await writeFile(path, text, { mode: 0o600 });
    return path;
  }

  const kubeconfigPath = await writeKubeconfig("kubeconfig", "admin", trust.admin);
  await prepare?.(kubeconfigPath);
  const started: Started = { run, observer, server: apiserver.url, writeKubeconfig, files, trust };
  const [controllerManager, nodes, scheduler] = await Promise.all([
    binaries.controllerManager === undefined
      ? undefined
      : startManager(binaries.controllerManager, started, pods === undefined ? "none" : "real"),
    binaries.nodes === undefined
      ? undefined
      : startNodes(run, binaries.nodes, { kubeconfigPath, writeKubeconfig, files, trust }, observer),
    pods === undefined ? undefined : startSchedulerOnly(pods.scheduler, started),
  ]);

  return {
    kubeconfigPath,
    etcd,
    apiserver,
    controllerManager,
    nodes,
    scheduler: nodes?.scheduler ?? scheduler,
    kubeconfigFor: (user, groups = [], validity = {}) =>
      writeKubeconfig(
        `${encodeURIComponent(user)}.kubeconfig`,
        user,
        authority.client({ user, groups }, validity),
      ),
    auditLogPath: audit?.log,
  };
}

/** Admission plugins that would block pods because their controllers do not run. */
const disabledAdmission = (
  { controllerManager, nodes }: ControlPlaneBinaries,
  realPods: boolean,
): string[] => [
  // It rejects pods until their namespace has a service account, which only the controller manager creates.
  ...(controllerManager === undefined ? ["ServiceAccount"] : []),
  // It taints new nodes until the node lifecycle controller, which does not run here, reports them ready.
  ...(nodes === undefined && !realPods ? [] : ["TaintNodesByCondition"]),
];

/** A control plane whose API server runs. */
interface Started {
  readonly run: Run;
  readonly observer: PartObserver;
  readonly server: string;
  readonly files: ControlPlaneFiles;
  readonly trust: Trust;
  writeKubeconfig(file: string, user: string): Promise<string>;
}

async function startManager(
  binary: string,
  { run, observer, writeKubeconfig, ...started }: Started,
  pods: "none" | "real",
): Promise<Child> {
  const kubeconfigPath = await writeKubeconfig(
    "controller-manager.kubeconfig",
    "system:kube-controller-manager",
  );
  return startObserved("kube-controller-manager", binary, observer, (options) =>
    startControllerManager(run, { ...options, ...started, kubeconfigPath, pods }),
  );
}

async function startSchedulerOnly(
  binary: string,
  { run, observer, writeKubeconfig, files, trust }: Started,
): Promise<Child> {
  const kubeconfigPath = await writeKubeconfig("scheduler.kubeconfig", "system:kube-scheduler");
  return startObserved("kube-scheduler", binary, observer, (options) =>
    startScheduler(run, { ...options, kubeconfigPath, files, trust }),
  );
}

/** One event per response, and one at the start of each watch. */
const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "Metadata" }],
};

async function writeAuditPolicy(folder: string): Promise<AuditFiles> {
  const policy = join(folder, "audit-policy.json");
  await writeFile(policy, JSON.stringify(auditPolicy));
  return { policy, log: join(folder, "audit.log") };
}

async function writeFiles(
  folder: string,
  authority: CertificateAuthority,
  addresses: readonly string[],
): Promise<ControlPlaneFiles> {
  const names = ["127.0.0.1", "localhost", "kubernetes.default.svc", "10.96.0.1", ...addresses];
  const server = authority.server(names);
  // The API server connects to kubelets for logs and exec.
  const client = authority.client({ user: "kube-apiserver", groups: ["system:masters"] });
  const signing = createSigningKey();
  await mkdir(folder, { mode: 0o700 });
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  return {
    ca: await write("ca.crt", authority.cert),
    serverCert: await write("server.crt", server.cert),
    serverKey: await write("server.key", server.key),
    clientCert: await write("client.crt", client.cert),
    clientKey: await write("client.key", client.key),
    signingKey: await write("service-account.key", signing.privateKey),
    verificationKey: await write("service-account.pub", signing.publicKey),
  };
}
