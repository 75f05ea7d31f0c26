/**
 * A stand-in for changing the private key of an App: in the package `emulate` it has one for good. What is signed with a
 * newer key is signed anew with that one before `emulate` sees it.
 */
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { appJwt, claimedApp, claimsOf } from "./appjwt.ts";
import type { ApiCall } from "./call.ts";

/** A stand-in's own App: its id, and the key that `emulate` knows it by. */
interface KeyedApp {
  readonly id: number;
  readonly privateKey: string;
}

/** The keys that Apps have instead of their first ones. */
export class AppKeys {
  readonly #apps: readonly KeyedApp[];
  readonly #newest = new Map<number, string>();

  constructor(apps: readonly KeyedApp[]) {
    this.#apps = apps;
  }

  /** Gives the App another key, PEM in PKCS #1; the one before is no longer good. Throws when there is no such App. */
  rotate(app: number): string {
    if (!this.#apps.some(({ id }) => id === app))
      throw new Error(`expected one of the Apps ${this.#apps.map(({ id }) => id).join(", ")}, found ${app}`);
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const pem = privateKey.export({ type: "pkcs1", format: "pem" }) as string;
    this.#newest.set(app, pem);
    return pem;
  }

  /** The request as `emulate` understands it; with a signature that is nobody's when the key is not the newest. */
  readonly resigned = (call: ApiCall): ApiCall => {
    const jwt = /^bearer\s+(eyJ\S+)$/i.exec(call.headers.authorization ?? "")?.[1] ?? "";
    const app = this.#apps.find(({ id }) => id === claimedApp(jwt));
    const newest = app && this.#newest.get(app.id);
    if (newest === undefined) return call;
    const [head, body, signature = ""] = jwt.split(".");
    const isGood = verify(
      "RSA-SHA256",
      Buffer.from(`${head}.${body}`),
      createPublicKey(newest),
      Buffer.from(signature, "base64url"),
    );
    const authorization = `Bearer ${isGood ? appJwt(app as KeyedApp, claimsOf(jwt)) : `${head}.${body}.`}`;
    return { ...call, headers: { ...call.headers, authorization } };
  };
}
