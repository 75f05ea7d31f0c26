/** The webhook of kinds on this machine, for conversions and admission hooks: its address, and a certificate that nothing else trusts. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConversionWebhook } from "denrei/kinds";
import type { Settings } from "denrei/runtime";
import { type Child, freePort } from "../local/index.ts";
import { createCertificateAuthority } from "../local/pki.ts";
import { type ReplicaOptions, startReplica } from "./replicas.ts";

/** The webhook before it runs, so that CRDs can name it. */
export interface PreparedAdmission {
  readonly webhook: ConversionWebhook;
  /** Writes the certificate to the folder of the run, and returns the settings of the webhook. */
  writeSettings(directory: string): Promise<AdmissionSettings>;
}

/** The address of the webhook, and the paths of its certificate. */
export type AdmissionSettings = Settings<"admissionAddress" | "admissionCert" | "admissionKey">;

const host = "127.0.0.1";

/** Issues a certificate for a port of this machine, by default a free one. */
export async function prepareAdmission(port?: number): Promise<PreparedAdmission> {
  const authority = createCertificateAuthority("denrei-admission");
  const { cert, key } = authority.server([host]);
  const address = `${host}:${port ?? (await freePort())}`;
  return {
    webhook: { address: { url: `https://${address}` }, ca: authority.cert },
    async writeSettings(directory) {
      const folder = join(directory, "admission");
      const [certPath, keyPath] = [join(folder, "tls.crt"), join(folder, "tls.key")];
      await mkdir(folder, { mode: 0o700 });
      await writeFile(certPath, cert);
      await writeFile(keyPath, key, { mode: 0o600 });
      return { admissionAddress: address, admissionCert: certPath, admissionKey: keyPath };
    },
  };
}

/** Starts `admission-1`; resolves when it is ready. */
export async function startLocalAdmission(
  admission: PreparedAdmission,
  options: ReplicaOptions,
): Promise<Child> {
  const settings = await admission.writeSettings(options.processes.directory);
  const env = { ...options.env, ...admissionEnv(settings) };
  return startReplica(`admission-1${options.suffix}`, "admission", [], { ...options, env });
}

/** The settings as environment variables of a process. */
export const admissionEnv = (settings: AdmissionSettings): Readonly<Record<string, string>> => ({
  DENREI_ADMISSION_ADDRESS: settings.admissionAddress,
  DENREI_ADMISSION_CERT: settings.admissionCert,
  DENREI_ADMISSION_KEY: settings.admissionKey,
});
