/** The gateway's configuration: Envoy routes each of PipeCD's gRPC services to its port of the server. */
import { stringify } from "yaml";
import { ConfigError } from "../config/problems.ts";
import { gatewayPorts, serverPorts, tlsDirectory } from "../names.ts";
import { firstOfC, type Profile } from "../profile.ts";

/** Settings of the gateway. */
export interface GatewayOptions {
  readonly server: string;
  /** Whether the server speaks gRPC only over TLS. */
  readonly tls?: boolean;
}

interface Route {
  readonly prefix: string;
  readonly cluster: string;
  /** Replaces the prefix. */
  readonly rewrite?: string;
}

interface Cluster {
  readonly name: string;
  readonly port: number;
  readonly grpc: boolean;
}

interface Plan {
  readonly routes: readonly Route[];
  readonly clusters: readonly Cluster[];
}

const services = {
  piped: "pipedservice.PipedService",
  web: "webservice.WebService",
  api: "apiservice.APIService",
} as const;
type Service = keyof typeof services;

/** Paths of services from v0.24.1, and before. */
const prefixOf = (service: Service) => `/grpc.service.${services[service]}/`;
const oldPrefixOf = (service: Service) => `/pipe.api.service.${services[service]}/`;

/** All other paths are web pages and logins. */
const httpCluster: Cluster = { name: "server-http", port: serverPorts.http, grpc: false };
const fallbackRoute: Route = { prefix: "/", cluster: httpCluster.name };

function plan(
  names: Partial<Record<Service, string>>,
  routesOf: (service: Service, cluster: string) => Route[],
): Plan {
  const entries = Object.entries(names) as [Service, string][];
  return {
    routes: [...entries.flatMap(([service, cluster]) => routesOf(service, cluster)), fallbackRoute],
    clusters: [
      ...entries.map(([service, name]) => ({ name, port: serverPorts[service], grpc: true })),
      httpCluster,
    ],
  };
}

const plans: Readonly<Record<Profile, Plan>> = {
  L0: plan({ piped: "server-piped-api", web: "server-web-api" }, (service, cluster) => [
    { prefix: oldPrefixOf(service), cluster },
  ]),
  C: plan(
    { piped: "grpc-piped-service", web: "grpc-web-service", api: "grpc-api-service" },
    (service, cluster) => [
      { prefix: prefixOf(service), cluster },
      { prefix: oldPrefixOf(service), cluster, rewrite: prefixOf(service) },
    ],
  ),
};

const listeningAt = (address: string, port: number) => ({
  socket_address: { address, port_value: port },
});

const routeOf = ({ prefix, cluster, rewrite }: Route) => ({
  match: { prefix },
  route: { cluster, ...(rewrite !== undefined && { prefix_rewrite: rewrite }) },
});

const virtualHost = (routes: readonly Route[]) => ({
  name: "envoy",
  domains: ["*"],
  routes: routes.map(routeOf),
});

const clusterOf = ({ name, port, grpc }: Cluster, server: string) => ({
  name,
  type: "STRICT_DNS",
  lb_policy: "ROUND_ROBIN",
  connect_timeout: "0.25s",
  ...(grpc && { http2_protocol_options: {} }),
  load_assignment: {
    cluster_name: name,
    endpoints: [{ lb_endpoints: [{ endpoint: { address: listeningAt(server, port) } }] }],
  },
});

/** The parts that are the same in both APIs. */
const bootstrap = (admin: object, connectionManager: object, clusters: readonly object[]) => ({
  admin: { ...admin, address: listeningAt("0.0.0.0", gatewayPorts.admin) },
  static_resources: {
    listeners: [
      {
        name: "ingress",
        address: listeningAt("0.0.0.0", gatewayPorts.ingress),
        filter_chains: [{ filters: [connectionManager] }],
      },
    ],
    clusters,
  },
});

function envoyV2({ routes, clusters }: Plan, server: string): object {
  return bootstrap(
    { access_log_path: "/dev/stdout" },
    {
      name: "envoy.http_connection_manager",
      config: {
        codec_type: "AUTO",
        idle_timeout: "600s",
        stat_prefix: "ingress_http",
        access_log: [
          {
            name: "envoy.file_access_log",
            filter: { not_health_check_filter: {} },
            config: { path: "/dev/stdout" },
          },
        ],
        http_filters: [{ name: "envoy.grpc_web" }, { name: "envoy.router" }],
        route_config: { virtual_hosts: [virtualHost(routes)] },
      },
    },
    clusters.map((cluster) => clusterOf(cluster, server)),
  );
}

const typed = (extension: string, fields: object = {}) => ({
  typed_config: { "@type": `type.googleapis.com/envoy.extensions.${extension}`, ...fields },
});

const upstreamTLS = (server: string) => ({
  name: "envoy.transport_sockets.tls",
  ...typed("transport_sockets.tls.v3.UpstreamTlsContext", {
    sni: server,
    common_tls_context: {
      alpn_protocols: ["h2"],
      validation_context: { trusted_ca: { filename: `${tlsDirectory}/ca.crt` } },
    },
  }),
});

function envoyV3({ routes, clusters }: Plan, { server, tls = false }: GatewayOptions): object {
  return bootstrap(
    {},
    {
      name: "envoy.filters.network.http_connection_manager",
      ...typed("filters.network.http_connection_manager.v3.HttpConnectionManager", {
        codec_type: "AUTO",
        stat_prefix: "ingress_http",
        access_log: [
          {
            name: "envoy.access_loggers.stdout",
            ...typed("access_loggers.stream.v3.StdoutAccessLog"),
          },
        ],
        http_filters: [
          { name: "envoy.filters.http.grpc_web", ...typed("filters.http.grpc_web.v3.GrpcWeb") },
          {
            name: "envoy.filters.http.grpc_stats",
            ...typed("filters.http.grpc_stats.v3.FilterConfig", {
              stats_for_all_methods: true,
              enable_upstream_stats: true,
            }),
          },
          { name: "envoy.filters.http.router", ...typed("filters.http.router.v3.Router") },
        ],
        route_config: { name: "local_route", virtual_hosts: [virtualHost(routes)] },
      }),
    },
    clusters.map((cluster) => ({
      ...clusterOf(cluster, server),
      track_cluster_stats: { request_response_sizes: true },
      ...(cluster.grpc && tls && { transport_socket: upstreamTLS(server) }),
    })),
  );
}

/** The content of `envoy-config.yaml`. Throws a {@link ConfigError} for TLS with a version that does not support it. */
export function envoyConfig(profile: Profile, options: GatewayOptions): string {
  if (profile === "L0" && options.tls) throw new ConfigError([`spec.tls needs PipeCD ${firstOfC} or later`]);
  const config = profile === "L0" ? envoyV2(plans.L0, options.server) : envoyV3(plans.C, options);
  return stringify(config, { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false });
}
