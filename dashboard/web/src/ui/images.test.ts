import { expect, test } from "vitest";
import { shortImage } from "./images.ts";

const hex = "0123456789abcdef".repeat(4);

test("only digests are abbreviated", () => {
  expect(shortImage(`registry.example.com:5000/team/web@sha256:${hex}`)).toBe(
    "registry.example.com:5000/team/web@sha256:0123456789ab…",
  );
  expect(shortImage(`web:1@sha512:${hex}${hex}`)).toBe("web:1@sha512:0123456789ab…");
  for (const image of ["web", "web:1", `web:${hex}`, "web@sha256:012345"])
    expect(shortImage(image)).toBe(image);
});
