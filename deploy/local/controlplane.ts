/** etcd, kube-apiserver and kube-controller-manager, wired together with a throw-away authority. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { kubeconfigText } from "./kubeconfig.ts";
import { type ApiServer, type ControlPlaneFiles, startApiServer } from "./parts/apiserver.ts";
import { startControllerManager } from "./parts/controller-manager.ts";
import { type Etcd, startEtcd } from "./parts/etcd.ts";
import { observed, type PartObserver } from "./parts/part.ts";
import {
  type CertificateAuthority,
  createCertificateAuthority,
  createSigningKey,
  type Validity,
} from "./pki.ts";
import type { Child } from "./run/child.ts";
import type { Run } from "./run/run.ts";

/** Paths of the programs; without a controller manager there is no garbage collection and nothing makes pods. */
export interface ControlPlaneBinaries {
  readonly etcd: string;
  readonly apiserver: string;
  readonly controllerManager?: string | undefined;
}

/** A running control plane. */
export interface ControlPlane {
  /** An administrator's kubeconfig (group system:masters). */
  readonly kubeconfigPath: string;
  readonly etcd: Etcd;
  readonly apiserver: ApiServer;
  readonly controllerManager: Child | undefined;
  /**
   * Writes a kubeconfig for another user and returns its path; what the user may do is up to RBAC. Asked for again it
   * replaces the credentials in the file.
   */
  kubeconfigFor(user: string, groups?: readonly string[], validity?: Validity): Promise<string>;
}

/** Starts the parts in order, each once the one before it is ready. What fails leaves the run to be closed. */
export async function startControlPlane(
  run: Run,
  binaries: ControlPlaneBinaries,
  observer: PartObserver,
): Promise<ControlPlane> {
  const authority = createCertificateAuthority();
  const files = await writeFiles(join(run.directory, "pki"), authority);
  const trust = {
    ca: authority.cert,
    admin: authority.client({ user: "admin", groups: ["system:masters"] }),
  };

  const etcd = await observed("etcd", binaries.etcd, observer, (options) => startEtcd(run, options));
  const apiserver = await observed("kube-apiserver", binaries.apiserver, observer, (options) =>
    startApiServer(run, {
      ...options,
      etcdUrl: etcd.url,
      files,
      trust,
      // It refuses pods until their namespace has a service account, which only the controller manager makes.
      disabledAdmission: binaries.controllerManager === undefined ? ["ServiceAccount"] : [],
    }),
  );

  async function writeKubeconfig(file: string, user: string, credentials = authority.client({ user })) {
    const path = join(run.directory, file);
    const text = kubeconfigText({ server: apiserver.url, ca: authority.cert, user, credentials });
    await writeFile(path, text, { mode: 0o600 });
    return path;
  }

  const kubeconfigPath = await writeKubeconfig("kubeconfig", "admin", trust.admin);
  let controllerManager: Child | undefined;
  if (binaries.controllerManager !== undefined) {
    const user = "system:kube-controller-manager";
    const itsKubeconfig = await writeKubeconfig("controller-manager.kubeconfig", user);
    controllerManager = await observed(
      "kube-controller-manager",
      binaries.controllerManager,
      observer,
      (options) =>
        startControllerManager(run, {
          ...options,
          server: apiserver.url,
          kubeconfigPath: itsKubeconfig,
          files,
          trust,
        }),
    );
  }

  return {
    kubeconfigPath,
    etcd,
    apiserver,
    controllerManager,
    kubeconfigFor: (user, groups = [], validity = {}) =>
      writeKubeconfig(
        `${encodeURIComponent(user)}.kubeconfig`,
        user,
        authority.client({ user, groups }, validity),
      ),
  };
}

async function writeFiles(folder: string, authority: CertificateAuthority): Promise<ControlPlaneFiles> {
  const server = authority.server(["127.0.0.1", "localhost", "kubernetes.default.svc", "10.96.0.1"]);
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
    signingKey: await write("service-account.key", signing.privateKey),
    verificationKey: await write("service-account.pub", signing.publicKey),
  };
}
