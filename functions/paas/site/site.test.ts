import { expect, test } from "vitest";
import { ConfigMap, type ConfigMapObject } from "../../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../../bus/kube/object.ts";
import { platformNamespace } from "../../../bus/process/namespace.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { enqueueRequestsOf } from "../../../bus/worker/router.ts";
import application from "../application.ts";

/** Without what other test files of this process have read: the module remembers it for seconds. */
const own = "./site.ts?own";
const { siteOf } = (await import(own)) as typeof import("./site.ts");

let versions = 0;
const configMap = (data: Readonly<Record<string, string>>, name = "modoki"): Stored<ConfigMapObject> => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: platformNamespace, name, uid: "u", resourceVersion: String(++versions) },
  spec: undefined,
  data,
});

/** A bus and an API server with at most one ConfigMap, which count reads of the latter. */
function reads({ bus, api }: { readonly bus?: Stored; readonly api?: Stored }) {
  let asked = 0;
  const read = { get: async () => bus };
  const live = {
    get: async () => {
      asked++;
      return api;
    },
  };
  return {
    site: () => siteOf({ read, live } as unknown as Pick<Context, "read" | "live">),
    asked: () => asked,
  };
}

const both = (object: Stored<ConfigMapObject>) => reads({ bus: object, api: object });

test("asks the API server for a ConfigMap that the bus does not have yet", async () => {
  const { site } = reads({ api: configMap({ "config.yaml": "site: { scheme: http }" }) });
  expect((await site()).config.site.scheme).toBe("http");
});

test("reads each version once", async () => {
  const { site, asked } = both(configMap({ "config.yaml": "builder: { kind: Builder, name: own }" }));
  for (let time = 0; time < 3; time++) expect((await site()).config.builder.name).toBe("own");
  expect(asked()).toBe(1);
});

test("returns defaults without a ConfigMap, and does not ask the API server each time", async () => {
  const { site, asked } = reads({});
  for (let time = 0; time < 3; time++)
    expect(await site()).toMatchObject({ config: { site: { scheme: "https" } }, chart: undefined });
  expect(asked()).toBe(1);
});

test.each([
  ["invalid settings", { "config.yaml": "site: 3" }, "config.yaml: site: "],
  ["two charts", { "chart.ts": "", "chart.js": "" }, "expected chart.ts or chart.js, found both"],
  ["an unknown key", { "config.yml": "site: {}" }, "unknown keys config.yml, expected only"],
])("%s block each time, and the message says where to correct them", async (_, data, message) => {
  const { site, asked } = both(configMap(data));
  for (let time = 0; time < 2; time++) {
    const error = await site().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "BlockedError", reason: "SiteConfigInvalid" });
    expect((error as Error).message).toContain(`the ConfigMap modoki in ${platformNamespace}: `);
    expect((error as Error).message).toContain(message);
  }
  expect(asked()).toBe(1);
});

const keys = Array.from({ length: 100 }, (_, index) => ({ namespace: "default", name: `app-${index}` }));
const wakings = (object: Stored<KubeObject>) =>
  enqueueRequestsOf(
    application,
    {
      at: {
        group: "",
        kind: ConfigMap.kind,
        namespace: object.metadata.namespace ?? "",
        name: object.metadata.name,
        owner: "",
      },
      uid: object.metadata.uid,
      resourceVersion: object.metadata.resourceVersion,
      deleted: false,
      traceparent: undefined,
      partial: false,
      correction: false,
      sequence: 1,
      previous: 0,
      object: () => object,
    },
    {
      indexes: {
        keep: async () => undefined,
        find: async (_index, value) => (value === "modoki" ? keys : []),
      },
      records: { read: () => Promise.reject(new Error("its watches have no filters")) },
      live: async () => object,
      onInvalidKey: (error) => {
        throw error;
      },
    },
  );

test("enqueues every Application once after a change, in order, at twenty per second", async () => {
  const { requests: woken } = await wakings(configMap({}));
  expect(woken.map(({ key }) => key)).toEqual(keys);
  expect(woken.map(({ delayMillis }) => delayMillis)).toEqual(keys.map((_, index) => index * 50));
});

test("ignores other ConfigMaps", async () => {
  const ignored = { requests: [], outcomes: [] };
  expect(await wakings(configMap({}, "other"))).toEqual(ignored);
  const elsewhere = configMap({});
  expect(await wakings({ ...elsewhere, metadata: { ...elsewhere.metadata, namespace: "team-a" } })).toEqual(
    ignored,
  );
});
