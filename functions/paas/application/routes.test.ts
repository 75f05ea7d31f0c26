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

test("reports a route that a Gateway does not accept or cannot resolve", () => {
  expect(refusedRoute([route([{}])])).toBe(
    "the Gateway gateways/public does not accept the HTTPRoute web: NotAllowed: by the listener",
  );
  expect(refusedRoute([route([]), route([{ type: "ResolvedRefs" }])])).toContain("NotAllowed");
  expect(refusedRoute([route([{ observedGeneration: 3 }])])).toContain("NotAllowed");
});

test.each([
  ["is accepted", route([{ status: "True" }])],
  ["has no status yet", route([])],
  ["has no status since its last change", route([{ observedGeneration: 2 }])],
  ["is refused by a Gateway that it no longer names", route([{ parent: { name: "former" } }])],
  ["has another controller's condition", route([{ type: "PartiallyInvalid" }])],
  ["is not an HTTPRoute", route([{}], "Ingress")],
])("accepts a route that %s", (_, object) => {
  expect(refusedRoute([object])).toBeUndefined();
});

test("looks for the Gateway in the route's namespace by default", () => {
  const local = route([{ parent: { name: "local", namespace: "team-a" } }]);
  expect(refusedRoute([{ ...local, spec: { parentRefs: [{ name: "local" }] } } as typeof local])).toContain(
    "team-a/local",
  );
});
