import { expect, test } from "vitest";
import { withoutBuiltinImports } from "./builtins.ts";

test.each([
  ['import { a, b as c } from "node:util";', 'const { a, b: c } = process.getBuiltinModule("node:util");'],
  ['import fs from "fs";', 'const fs = process.getBuiltinModule("fs");'],
  [
    'import path, { join } from "node:path";',
    'const path = process.getBuiltinModule("node:path"), { join } = process.getBuiltinModule("node:path");',
  ],
  [
    'import { default as os, EOL } from "node:os";',
    'const os = process.getBuiltinModule("node:os"), { EOL } = process.getBuiltinModule("node:os");',
  ],
])("takes what %s imports from the module itself", (before, after) => {
  expect(withoutBuiltinImports(`first();\n${before}\nlast();`)).toBe(`first();\n${after}\nlast();`);
});

test.each([
  'import { a } from "./chunk.js";',
  'import * as zlib from "node:zlib";',
  'import "node:fs";',
  'export { join } from "node:path";',
  'const text = `import fs from "node:fs";`;',
])("does not change %s", (code) => {
  expect(withoutBuiltinImports(code)).toBe(code);
});
