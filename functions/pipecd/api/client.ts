/** A client of PipeCD's control plane: https://pipecd.dev/docs/ */
import { apiService } from "./apiservice.ts";
import type { ClientOptions, PipecdClient } from "./services.ts";
import { webServiceC } from "./webservice-c.ts";
import { webServiceL0 } from "./webservice-l0.ts";

/** A client for one reconcile. Connections are shared by all of them. */
export function pipecdClient(options: ClientOptions): PipecdClient {
  if (options.profile === "L0") return webServiceL0(options);
  const web = webServiceC(options);
  if (options.apiKey === undefined) return web;
  const api = apiService(options, options.apiKey);
  return {
    ...web,
    pipeds: { ...web.pipeds, ...api.pipeds },
    applications: api.applications,
    events: { ...web.events, ...api.events },
  };
}
