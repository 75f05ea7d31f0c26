import { expect, test } from "vitest";
import { refusedRoute } from "./routes.ts";

interface Answer {
  readonly type?: string;
  readonly status?: string;
  readonly parent?: { readonly name: string; readonly namespace?: string };
  readonly observedGeneration?: number;
}

const parent = { name: "public", namespace: "gateways" };
const route = (answers: readonly Answer[], kind = "HTTPRoute") => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind,
  metadata: { name: "web", namespace: "team-a", uid: "u", resourceVersion: "1", generation: 3 },
  spec: { parentRefs: [parent] },
  status: {
    parents: answers.map(({ type = "Accepted", status = "False", parent: parentRef = parent, ...more }) => ({
      parentRef,
      conditions: [{ type, status, reason: "NotAllowed", message: "by the listener", ...more }],
    })),
  },
});

test("one that a Gateway does not accept, or can not resolve, is refused", () => {
  expect(refusedRoute([route([{}])])).toBe(
    "the Gateway gateways/public does not accept the HTTPRoute web: NotAllowed: by the listener",
  );
  expect(refusedRoute([route([]), route([{ type: "ResolvedRefs" }])])).toContain("NotAllowed");
  expect(refusedRoute([route([{ observedGeneration: 3 }])])).toContain("NotAllowed");
});

test.each([
  ["is accepted", route([{ status: "True" }])],
  ["nobody has looked at", route([])],
  ["nobody has looked at since it has changed", route([{ observedGeneration: 2 }])],
  ["is refused by a Gateway that it belongs to no more", route([{ parent: { name: "former" } }])],
  ["has a condition of somebody's own", route([{ type: "PartiallyInvalid" }])],
  ["is none", route([{}], "Ingress")],
])("one that %s is not refused", (_, object) => {
  expect(refusedRoute([object])).toBeUndefined();
});

test("without a namespace the Gateway is in that of the route", () => {
  const local = route([{ parent: { name: "local", namespace: "team-a" } }]);
  expect(refusedRoute([{ ...local, spec: { parentRefs: [{ name: "local" }] } } as typeof local])).toContain(
    "team-a/local",
  );
});
