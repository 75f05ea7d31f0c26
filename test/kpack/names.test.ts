import { expect, test } from "vitest";
import { buildName, podName, sourceResolverName } from "../../deploy/simulators/kpack/names.ts";

const long = "a".repeat(58);

test("keeps short names unchanged", () => {
  expect(sourceResolverName("web")).toBe("web-source");
  expect(podName(buildName("web", 12))).toBe("web-build-12-build-pod");
});

test("cuts and hashes a name that is too long for a label, as recorded", () => {
  const build = buildName(long, 1);
  expect(build).toBe("aaaaaaaaaaaaaaaaaaaaaaadc2f2f2462a0d72358b2f99389458606-build-1");
  expect(podName(build)).toBe("aaaaaaaaaaaaaaaaaaaaa83387386c23036828c57cda82fbeb477-build-pod");
});

test("does not hash the longest name that fits", () => {
  expect(buildName("z".repeat(55), 1)).toBe(`${"z".repeat(55)}-build-1`);
  expect(buildName("z".repeat(56), 1)).toMatch(/^z{23}[0-9a-f]{32}-build-1$/);
});
