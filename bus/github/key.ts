/** The private key of a GitHub App. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";

/** The text is not a private key of a GitHub App. The message names the kind of text, and quotes nothing. */
export class PrivateKeyError extends Error {
  override readonly name = "PrivateKeyError";

  constructor(found: string) {
    super(
      `expected a PEM RSA private key as the page of a GitHub App gives it, found ${found}. ` +
        'Generate one there ("Private keys") and store the file unchanged, with its line breaks.',
    );
  }
}

/** An RSA key that signs for an App, made by {@link parsePrivateKey}. Logs and serializers see only the fingerprint. */
export class AppKey {
  /** `SHA256:` and what the App's page shows. Reveals nothing about the private key. */
  readonly fingerprint: string;
  readonly #pem: string;

  constructor(key: KeyObject) {
    const publicKey = createPublicKey(key).export({ type: "spki", format: "der" });
    this.fingerprint = `SHA256:${createHash("sha256").update(publicKey).digest("base64")}`;
    this.#pem = key.export({ type: "pkcs8", format: "pem" }) as string;
  }

  /** The key itself in PKCS#8: a secret. A method, because loggers may evaluate getters. */
  pem(): string {
    return this.#pem;
  }
}

/**
 * Reads a key, PKCS#1 (what GitHub gives) or PKCS#8. Throws {@link PrivateKeyError}. The fingerprint is GitHub's:
 * https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/managing-private-keys-for-github-apps#verifying-private-keys
 */
export function parsePrivateKey(pem: string): AppKey {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // OpenSSL's message may quote the key, so it is not passed on.
    throw new PrivateKeyError(kindOf(pem));
  }
  if (key.asymmetricKeyType !== "rsa")
    throw new PrivateKeyError(`a private key of the type ${key.asymmetricKeyType}`);
  return new AppKey(key);
}

function kindOf(text: string): string {
  if (text.trim() === "") return "nothing";
  const label = /-----BEGIN ([A-Z ]{1,40})-----/.exec(text)?.[1];
  if (label === undefined) return "a text without a PEM block";
  if (label.startsWith("ENCRYPTED") || text.includes("Proc-Type: 4,ENCRYPTED"))
    return "a private key that a passphrase protects";
  return label === "RSA PRIVATE KEY" || label === "PRIVATE KEY"
    ? `a damaged PEM block "${label}"`
    : `a PEM block "${label}"`;
}
