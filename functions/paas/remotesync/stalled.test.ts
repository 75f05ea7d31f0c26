import { expect, test } from "vitest";
import type { Stored } from "../../../bus/kube/object.ts";
import type { Image } from "../kinds/kpack.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { stalledText } from "./stalled.ts";

const written = Date.parse("2026-01-01T00:00:00Z");
const sync = { metadata: { namespace: "team-a", name: "web" } } as Stored<RemoteSync>;

const image = (observedGeneration: number | undefined) =>
  ({
    metadata: {
      name: "modoki-web",
      generation: 3,
      creationTimestamp: "2025-01-01T00:00:00Z",
      managedFields: [
        { time: "2026-01-01T00:00:00Z" },
        // An entry of the controller does not change the spec.
        { time: "2026-02-01T00:00:00Z", subresource: "status" },
      ],
    },
    status: { observedGeneration },
  }) as unknown as Stored<Image>;

const after = (seconds: number, observed: number | undefined) =>
  stalledText(sync, image(observed), { now: () => written + seconds * 1000 });

test("reports an Image half a minute after its last write, with what to do", () => {
  expect(after(29, 2)).toBeUndefined();
  for (const [observed, seen] of [
    [2, "2"],
    [undefined, "none"],
  ] as const) {
    const text = after(31, observed);
    expect(text).toMatch(
      /^kpack has not acted on generation 3 of the Image modoki-web since 2026-01-01T00:00:00/,
    );
    expect(text).toContain(`(its status.observedGeneration is ${seen})`);
    expect(text).toContain("kubectl annotate remotesync web -n team-a modoki.tsuzu.dev/recreate-image=");
  }
});

test("does not report an Image that kpack has observed, however old it is", () => {
  expect(after(86_400, 3)).toBeUndefined();
});
