import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { isStandardSecret, type SignatureScheme, signatures } from "./signatures.ts";

interface Signed {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly secrets: readonly string[];
  readonly now?: number;
}

/** Whether the scheme accepts the request; its body arrives in pieces. */
function accepts(scheme: SignatureScheme, { headers, body, secrets, now = 0 }: Signed): boolean {
  const check = scheme.check(headers, secrets, now);
  for (let at = 0; at < body.length; at += 5) check?.update(Buffer.from(body.slice(at, at + 5)));
  return check?.matches() ?? false;
}

/** Examples that the senders publish. */
const standardExample: Signed = {
  headers: {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  },
  body: '{"test": 2432232314}',
  secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
  now: 1614265330_000,
};
const hub = signatures.hmac({ header: "X-Hub-Signature-256", prefix: "sha256=" });
const published: readonly [string, SignatureScheme, Signed][] = [
  [
    "GitHub",
    hub,
    {
      headers: {
        "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
      },
      body: "Hello, World!",
      secrets: ["It's a Secret to Everybody"],
    },
  ],
  [
    "Bitbucket",
    signatures.hmac({ header: "X-Hub-Signature", prefix: "sha256=" }),
    {
      headers: {
        "x-hub-signature": "sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9",
      },
      body: "Hello World!",
      secrets: ["It's a Secret to Everybody"],
    },
  ],
  ["Standard Webhooks", signatures.standard(), standardExample],
];

describe("published examples", () => {
  test.each(published)("%s: accepts the example, and no other body or secret", (_, scheme, example) => {
    expect(accepts(scheme, example)).toBe(true);
    expect(accepts(scheme, { ...example, secrets: ["other", ...example.secrets] })).toBe(true);
    for (const body of [`${example.body} `, example.body.slice(1), example.body.slice(0, -1), ""])
      expect(accepts(scheme, { ...example, body })).toBe(false);
    for (const secrets of [[], [`${example.secrets[0]}=`], ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSv"]])
      expect(accepts(scheme, { ...example, secrets })).toBe(false);
    expect(accepts(scheme, { ...example, secrets: scheme.decoys })).toBe(false);
    expect(scheme.check({}, example.secrets, example.now ?? 0)).toBeUndefined();
  });
});

describe("hmac", () => {
  const body = "ずんどこ";
  test.each(["sha256", "sha512"] as const)("verifies %s in hex and base64", (algorithm) => {
    for (const encoding of ["hex", "base64"] as const) {
      const scheme = signatures.hmac({ header: "X-Sig", algorithm, encoding });
      const signature = createHmac(algorithm, "s").update(body).digest(encoding);
      const signed = { headers: { "x-sig": signature }, body: Buffer.from(body).toString(), secrets: ["s"] };
      const check = scheme.check(signed.headers, signed.secrets, 0);
      check?.update(Buffer.from(body));
      expect(check?.matches()).toBe(true);
      for (const wrong of [signature.slice(1), `${signature}A`, `${signature}==`, ` ${signature}`, ""])
        expect(scheme.check({ "x-sig": wrong }, ["s"], 0)).toBeUndefined();
    }
  });
});

describe("token", () => {
  const scheme = signatures.token({ header: "X-Gitlab-Token" });
  test("accepts the secret itself, and nothing that only begins like it", () => {
    const secrets = ["old", "schlüssel"];
    // Node reads the bytes of headers as Latin-1.
    const sent = Buffer.from("schlüssel").toString("latin1");
    for (const token of [sent, "old"])
      expect(accepts(scheme, { headers: { "x-gitlab-token": token }, body: "any", secrets })).toBe(true);
    for (const token of ["", "ol", "oldd", "schlüsse", "old, old"])
      expect(accepts(scheme, { headers: { "x-gitlab-token": token }, body: "any", secrets })).toBe(false);
  });
});

describe("standard", () => {
  const scheme = signatures.standard();
  const { headers, now = 0 } = standardExample;
  const withHeaders = (changes: Readonly<Record<string, string>>) =>
    accepts(scheme, { ...standardExample, headers: { ...headers, ...changes } });

  test("accepts one valid signature among several, and ignores other versions", () => {
    const valid = headers["webhook-signature"] ?? "";
    const other = `v1,${Buffer.alloc(32).toString("base64")}`;
    expect(withHeaders({ "webhook-signature": `${other} v1a,abc ${valid}` })).toBe(true);
    expect(withHeaders({ "webhook-signature": valid.replace("v1,", "v1a,") })).toBe(false);
    expect(withHeaders({ "webhook-signature": other })).toBe(false);
    expect(withHeaders({ "webhook-signature": valid.slice(0, -2) })).toBe(false);
  });

  test("refuses another id or time, and requests more than five minutes old or ahead", () => {
    expect(withHeaders({ "webhook-id": "msg_other" })).toBe(false);
    expect(withHeaders({ "webhook-timestamp": "1614265331" })).toBe(false);
    for (const offset of [300_000, -300_000])
      expect(accepts(scheme, { ...standardExample, now: now + offset })).toBe(true);
    for (const offset of [300_001, -300_001])
      expect(accepts(scheme, { ...standardExample, now: now + offset })).toBe(false);
    for (const timestamp of ["", "soon", "1614265330.0", "-1614265330"])
      expect(scheme.check({ ...headers, "webhook-timestamp": timestamp }, [], now)).toBeUndefined();
  });

  test("uses no key that is short or not base64, because Node would decode a part of it", () => {
    for (const secret of ["", "whsec_", "whsec_!!!!", "hush", Buffer.alloc(23).toString("base64")]) {
      expect(scheme.problemOf(secret)).toMatch(/^expected whsec_/);
      const key = Buffer.from(secret.replace("whsec_", ""), "base64");
      const text = `msg.1614265330.${standardExample.body}`;
      const forged = createHmac("sha256", key).update(text).digest("base64");
      const changes = { "webhook-id": "msg", "webhook-signature": `v1,${forged}` };
      const signed = { ...standardExample, headers: { ...headers, ...changes }, secrets: [secret] };
      expect(accepts(scheme, signed)).toBe(false);
    }
    expect(scheme.problemOf(standardExample.secrets[0] ?? "")).toBeUndefined();
  });
});

test("anyOf accepts either signature, each only with secrets of its own scheme", () => {
  const scheme = signatures.anyOf([signatures.token({ header: "T" }), signatures.standard()], (secret) =>
    isStandardSecret(secret) ? 1 : 0,
  );
  const [key = ""] = standardExample.secrets;
  expect(accepts(scheme, { ...standardExample, secrets: ["plain", key] })).toBe(true);
  expect(accepts(scheme, { ...standardExample, headers: { t: "plain" }, secrets: ["plain", key] })).toBe(
    true,
  );
  expect(accepts(scheme, { ...standardExample, secrets: ["plain"] })).toBe(false);
  expect(accepts(scheme, { ...standardExample, headers: { t: key }, secrets: [key] })).toBe(false);
  expect(scheme.check({}, ["plain"], 0)).toBeUndefined();
});
