/**
 * Simulates key rotation of an App. In the package `emulate` an App keeps its first key, so a token signed with a newer
 * key is signed again with the first one before `emulate` sees it.
 */
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { appJwt, claimedApp, claimsOf } from "./appjwt.ts";
import type { ApiCall } from "./call.ts";

/** A simulated App: its id, and its key in `emulate`. */
interface KeyedApp {
  readonly id: number;
  readonly privateKey: string;
}

/** The current keys of Apps whose key was rotated. */
export class AppKeys {
  readonly #apps: readonly KeyedApp[];
  readonly #newest = new Map<number, string>();

  constructor(apps: readonly KeyedApp[]) {
    this.#apps = apps;
  }

  /** Replaces the App's key and invalidates the old one. Returns PEM in PKCS #1. Throws for an unknown App. */
  rotate(app: number): string {
    if (!this.#apps.some(({ id }) => id === app))
      throw new Error(`no App with id ${app}: the Apps are ${this.#apps.map(({ id }) => id).join(", ")}`);
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const pem = privateKey.export({ type: "pkcs1", format: "pem" }) as string;
    this.#newest.set(app, pem);
    return pem;
  }

  /** The request with a token that the first key has signed; its signature is empty when the key is outdated. */
  readonly signedWithFirstKey = (call: ApiCall): ApiCall => {
    const jwt = /^bearer\s+(eyJ\S+)$/i.exec(call.headers.authorization ?? "")?.[1] ?? "";
    const app = this.#apps.find(({ id }) => id === claimedApp(jwt));
    const newest = app && this.#newest.get(app.id);
    if (newest === undefined) return call;
    const [head, body, signature = ""] = jwt.split(".");
    const isValid = verify(
      "RSA-SHA256",
      Buffer.from(`${head}.${body}`),
      createPublicKey(newest),
      Buffer.from(signature, "base64url"),
    );
    const authorization = `Bearer ${isValid ? appJwt(app as KeyedApp, claimsOf(jwt)) : `${head}.${body}.`}`;
    return { ...call, headers: { ...call.headers, authorization } };
  };
}
