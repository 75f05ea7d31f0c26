import { expect, test } from "vitest";
import { shortImage, shortMessage } from "./images.ts";

const hex = "0123456789abcdef".repeat(4);

test("only digests are abbreviated", () => {
  expect(shortImage(`registry.example.com:5000/team/web@sha256:${hex}`)).toBe(
    "registry.example.com:5000/team/web@sha256:0123456789ab…",
  );
  expect(shortImage(`web:1@sha512:${hex}${hex}`)).toBe("web:1@sha512:0123456789ab…");
  for (const image of ["web", "web:1", `web:${hex}`, "web@sha256:012345"])
    expect(shortImage(image)).toBe(image);
});

test("a message keeps 12 digits of digests, 7 of commits, and all of anything else", () => {
  expect(shortMessage(`web@sha256:${hex} has ${hex.slice(0, 40)}.`)).toBe(
    "web@sha256:0123456789ab… has 0123456.",
  );
  for (const message of ["", hex.slice(0, 39), hex.slice(0, 41), `x${hex}`])
    expect(shortMessage(message)).toBe(message);
});
