import { expect, test } from "vitest";
import { catalog } from "./catalog.ts";
import { functions } from "./index.ts";

test("lists each function in the catalog by its own name", () => {
  expect(functions.map(({ name }) => name)).toEqual(Object.keys(catalog));
});
