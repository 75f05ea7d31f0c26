/** A client of PipeCD's control plane: https://pipecd.dev/docs/ */
import { hasReached } from "../profile.ts";
import { apiService } from "./apiservice.ts";
import type { ClientOptions, PipecdClient } from "./services.ts";
import { webServiceC } from "./webservice-c.ts";
import { webServiceL0 } from "./webservice-l0.ts";

/** A client for one reconcile. All clients share their connections. */
export function pipecdClient(options: ClientOptions): PipecdClient {
  if (options.profile === "L0") return webServiceL0(options);
  const web = webServiceC(options);
  if (options.apiKey === undefined) return web;
  const api = apiService(options, options.apiKey);
  const takesLabels = options.version === undefined || hasReached(options.version, "v0.56.0");
  return {
    ...web,
    pipeds: { ...web.pipeds, ...api.pipeds },
    applications: {
      ...api.applications,
      // Before v0.56.0 the APIService drops the labels of a new application, and it never takes deploy targets.
      add: (application) =>
        (takesLabels && !application.deployTargets ? api : web).applications.add(application),
      update: async (record, settings) =>
        (settings.deployTargets ? web : api).applications.update?.(record, settings),
    },
    // A key is an id, a dot, and a secret.
    events: { ...web.events, ...api.events, apiKeyID: options.apiKey.split(".")[0] },
  };
}
