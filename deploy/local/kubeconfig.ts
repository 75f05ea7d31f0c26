/** Kubeconfig files (`kubectl`'s client configuration, v1) with everything inside. */
import { stringify } from "yaml";
import type { KeyPair } from "./pki.ts";

/** Which API server, and as whom. */
export interface KubeconfigContents {
  /** `https://host:port`. */
  readonly server: string;
  /** PEM of the authority that signed the server's certificate. */
  readonly ca: string;
  readonly user: string;
  readonly credentials: KeyPair;
}

/** The file's text. It holds a private key: write it with mode 0600. */
export function kubeconfigText({ server, ca, user, credentials }: KubeconfigContents): string {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "denrei", cluster: { server, "certificate-authority-data": base64(ca) } }],
    users: [
      {
        name: user,
        user: {
          "client-certificate-data": base64(credentials.cert),
          "client-key-data": base64(credentials.key),
        },
      },
    ],
    contexts: [{ name: "denrei", context: { cluster: "denrei", user } }],
    "current-context": "denrei",
  });
}
