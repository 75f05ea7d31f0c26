import { Code as Published } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { Code, codeName } from "./codes.ts";

test("the codes are those of the client", () => {
  const published = Object.entries(Published).filter(([, code]) => typeof code === "number");
  expect(Object.entries(Code)).toEqual(published);
  for (const [name, code] of published) expect(codeName(code as number)).toBe(name);
  expect(codeName(99)).toBe("code 99");
});
