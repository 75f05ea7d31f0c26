/** Self-contained kubeconfig files. */
import { stringify } from "yaml";
import type { KeyPair } from "./pki.ts";

/** The API server and the user. */
export interface KubeconfigContents {
  /** `https://host:port`. */
  readonly server: string;
  /** Certificate (PEM) of the authority that signed the server's certificate. */
  readonly ca: string;
  readonly user: string;
  readonly credentials: KeyPair;
}

/** The text of the file. It contains a private key: write it with mode 0600. */
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
