/**
 * The built-in chart: renders the Deployment, the Service, and the route of an Application. It is a single file without imports, so
 * that a site can copy it, change it, and put it in a ConfigMap. Its result depends only on its two inputs: a rendering that
 * differed each time would restart the pods each time.
 */

type Texts = Readonly<Record<string, string>>;

/** The fields of an Application that this chart uses. */
interface App {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: Texts };
  readonly spec: {
    readonly domains: readonly string[];
    readonly image?: string | undefined;
    readonly command?: readonly string[] | undefined;
    readonly args?: readonly string[] | undefined;
    readonly attributes?: Texts | undefined;
    readonly serviceAccount?: string | undefined;
    readonly imagePullSecret?: string | undefined;
    readonly imagePullSecrets?: readonly { readonly name: string }[] | undefined;
    readonly env?: readonly { readonly name: string }[] | undefined;
    readonly envFrom?: readonly object[] | undefined;
    readonly replicas?: number | undefined;
    readonly port?: number | undefined;
    readonly resources?: object | undefined;
    readonly healthCheck?: HealthCheck | undefined;
  };
}

interface HealthCheck {
  readonly path: string;
  readonly initialDelaySeconds?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
}

/** The fields of the site's configuration that this chart uses. */
interface Config {
  readonly scheme: "http" | "https";
  readonly gateway?:
    | { readonly name: string; readonly namespace: string; readonly sectionName?: string | undefined }
    | undefined;
  readonly ingress?:
    | {
        readonly className?: string | undefined;
        readonly annotations?: Texts | undefined;
        readonly tlsSecretName?: string | undefined;
      }
    | undefined;
  readonly noAppImage: string;
  readonly defaultResources?: object | undefined;
  readonly podSecurity: "baseline" | "restricted";
  readonly progressDeadlineSeconds: number;
  readonly terminationGracePeriodSeconds: number;
  readonly tlsSecretName?: string | undefined;
  readonly ingressAnnotations?: Texts | undefined;
  readonly serviceDomain: string;
  readonly oauth2ServiceName: string;
  readonly oauth2ServiceNamespace: string;
}

interface Input {
  readonly app: App;
  readonly config: Config;
}

const servicePort = 80;
const oauth2Port = 4180;
const oauth2Attribute = "modoki.tsuzu.dev/oauth2";
/** Labels of a preview. They are copied to its objects and pods, so that users can select those of a pull request. */
const previewLabels = ["modoki.tsuzu.dev/app-pipeline", "modoki.tsuzu.dev/pull-request-id"];

/** The objects of an Application: a Deployment, a Service, and an HTTPRoute or an Ingress. */
export default function chart({ app, config }: Input): object[] {
  return [
    deployment({ app, config }),
    service(app),
    // The API server refuses an Ingress without rules.
    ...(app.spec.domains.length === 0 ? [] : routes({ app, config })),
  ];
}

function routes({ app, config }: Input): object[] {
  if (wantsLogin(app)) return withLogin({ app, config });
  if (config.gateway !== undefined) return httpRoutes(app, config.gateway);
  return [ingress({ app, config }, nameOf(app), {}, { path: "/", service: nameOf(app), port: servicePort })];
}

function deployment({ app, config }: Input): object {
  const { spec } = app;
  const selector = { "modoki-app": app.metadata.name };
  const labels = { ...labelsOf(app), ...selector };
  const pullSecrets = new Set([
    spec.imagePullSecret,
    ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
  ]);
  const imagePullSecrets = [...pullSecrets].flatMap((name) => (name ? [{ name }] : []));
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: metadata(app, nameOf(app)),
    spec: {
      replicas: spec.replicas ?? 1,
      selector: { matchLabels: selector },
      // Old pods serve until new ones are ready.
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      progressDeadlineSeconds: config.progressDeadlineSeconds,
      revisionHistoryLimit: 2,
      template: {
        metadata: { labels },
        spec: {
          ...(spec.serviceAccount && { serviceAccountName: spec.serviceAccount }),
          ...(imagePullSecrets.length > 0 && { imagePullSecrets }),
          automountServiceAccountToken: false,
          // Applications do not expect a variable for each port of each Service in the namespace.
          enableServiceLinks: false,
          terminationGracePeriodSeconds: config.terminationGracePeriodSeconds,
          securityContext: {
            seccompProfile: { type: "RuntimeDefault" },
            ...(config.podSecurity === "restricted" && { runAsNonRoot: true }),
          },
          containers: [container({ app, config })],
        },
      },
    },
  };
}

function container({ app, config }: Input): object {
  const { spec } = app;
  const port = spec.port ?? 8080;
  const variables = spec.env ?? [];
  const portVariable = { name: "PORT", value: String(port) };
  const hasOwn = variables.some(({ name }) => name === "PORT");
  const resources = spec.resources ?? config.defaultResources;
  return {
    name: "main",
    ...(spec.image
      ? {
          image: spec.image,
          ...(spec.command !== undefined && { command: spec.command }),
          ...(spec.args !== undefined && { args: spec.args }),
          env: hasOwn ? variables : [portVariable, ...variables],
          ...(spec.envFrom !== undefined && { envFrom: spec.envFrom }),
          ...probes(spec.healthCheck),
        }
      : // The placeholder image does not get the application's command, secrets, and health check.
        { image: config.noAppImage, env: [portVariable], ...probes(undefined) }),
    ports: [{ name: "http", containerPort: port, protocol: "TCP" }],
    // Requests can still arrive until all proxies know that the pod is terminating.
    lifecycle: { preStop: { sleep: { seconds: 5 } } },
    ...(resources !== undefined && { resources }),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: capabilities(config.podSecurity, port),
    },
  };
}

/**
 * Images of buildpacks need no capabilities. An image that starts as root and drops privileges, such as nginx, needs some: the level
 * baseline drops those that neither needs. The level restricted drops all but the one for low ports.
 */
function capabilities(level: Config["podSecurity"], port: number): object {
  if (level === "baseline") return { drop: ["AUDIT_WRITE", "MKNOD", "NET_RAW", "SETFCAP", "SYS_CHROOT"] };
  return { drop: ["ALL"], ...(port < 1024 && { add: ["NET_BIND_SERVICE"] }) };
}

function probes(check: HealthCheck | undefined): object {
  if (check === undefined) return { readinessProbe: { tcpSocket: { port: "http" }, periodSeconds: 5 } };
  const probe = {
    httpGet: { path: check.path, port: "http" },
    ...(check.timeoutSeconds !== undefined && { timeoutSeconds: check.timeoutSeconds }),
  };
  return {
    // Four minutes to start, less than the deadline of a rollout.
    startupProbe: {
      ...probe,
      ...(check.initialDelaySeconds !== undefined && { initialDelaySeconds: check.initialDelaySeconds }),
      periodSeconds: 2,
      failureThreshold: 120,
    },
    readinessProbe: { ...probe, periodSeconds: 5, failureThreshold: 3 },
    livenessProbe: { ...probe, periodSeconds: 10, failureThreshold: 6 },
  };
}

const service = (app: App): object => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: metadata(app, nameOf(app)),
  spec: {
    selector: { "modoki-app": app.metadata.name },
    // By name, so that old and new pods may listen on different ports during a rollout.
    ports: [{ name: "http", port: servicePort, protocol: "TCP", targetPort: "http" }],
  },
});

/** An HTTPRoute has at most 16 hosts. The first one has the name of the Application. */
function httpRoutes(app: App, gateway: NonNullable<Config["gateway"]>): object[] {
  const hosts = hostsOf(app);
  const { name, namespace, sectionName } = gateway;
  return Array.from({ length: Math.ceil(hosts.length / 16) }, (_, index) => ({
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: metadata(app, index === 0 ? nameOf(app) : nameOf(app, `hosts-${index + 1}`)),
    spec: {
      parentRefs: [
        {
          group: "gateway.networking.k8s.io",
          kind: "Gateway",
          name,
          namespace,
          ...(sectionName !== undefined && { sectionName }),
        },
      ],
      hostnames: hosts.slice(index * 16, index * 16 + 16),
      rules: [
        {
          matches: [{ path: { type: "PathPrefix", value: "/" } }],
          backendRefs: [{ group: "", kind: "Service", name: nameOf(app), port: servicePort, weight: 1 }],
        },
      ],
    },
  }));
}

interface Backend {
  readonly path: string;
  readonly service: string;
  readonly port: number;
}

function ingress({ app, config }: Input, name: string, own: Texts, backend: Backend): object {
  const hosts = hostsOf(app);
  const secretName = config.ingress?.tlsSecretName ?? config.tlsSecretName;
  const className = config.ingress?.className;
  const annotations = { ...own, ...config.ingressAnnotations, ...config.ingress?.annotations };
  // The API server refuses an Ingress that names its class twice.
  if (className !== undefined) delete annotations["kubernetes.io/ingress.class"];
  const { path, service, port } = backend;
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: {
      ...metadata(app, name),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: {
      ...(className !== undefined && { ingressClassName: className }),
      rules: hosts.map((host) => ({
        host,
        http: {
          paths: [
            { path, pathType: "Prefix", backend: { service: { name: service, port: { number: port } } } },
          ],
        },
      })),
      ...(config.scheme === "https" && {
        tls: [{ hosts, ...(secretName !== undefined && { secretName }) }],
      }),
    },
  };
}

/** Whether users have to log in. A misspelled value must not expose an Application. */
function wantsLogin(app: App): boolean {
  const value = app.spec.attributes?.[oauth2Attribute];
  if (value === undefined || value === "") return false;
  if (value === "default") return true;
  throw new Error(
    `the attribute ${oauth2Attribute} must be default, found ${JSON.stringify(value)}. Correct it, or remove it to disable logins.`,
  );
}

/**
 * Requires a login at oauth2-proxy, with annotations of ingress-nginx: the Gateway API has no equivalent. The path of oauth2-proxy
 * has its own Ingress without these annotations, because a login page that requires a login would redirect forever.
 */
function withLogin({ app, config }: Input): object[] {
  if (config.gateway !== undefined && config.ingress === undefined) {
    throw new Error(
      `the attribute ${oauth2Attribute} needs an Ingress, but the site only has a Gateway, which does not support logins. ` +
        "Add ingress to the site's configuration, or remove the attribute to disable logins.",
    );
  }
  const { serviceDomain, oauth2ServiceName, oauth2ServiceNamespace } = config;
  const login = nameOf(app, "oauth2");
  const auth = {
    "nginx.ingress.kubernetes.io/auth-url": "https://$host/oauth2/auth",
    "nginx.ingress.kubernetes.io/auth-signin": "https://$host/oauth2/start?rd=$escaped_request_uri",
  };
  return [
    ingress({ app, config }, nameOf(app), auth, { path: "/", service: nameOf(app), port: servicePort }),
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: metadata(app, login),
      spec: {
        type: "ExternalName",
        externalName: `${oauth2ServiceName}.${oauth2ServiceNamespace}.${serviceDomain}`,
        ports: [{ name: "http", port: oauth2Port, protocol: "TCP", targetPort: oauth2Port }],
      },
    },
    ingress({ app, config }, login, {}, { path: "/oauth2", service: login, port: oauth2Port }),
  ];
}

const hostsOf = (app: App): string[] => [...new Set(app.spec.domains)];

const metadata = (app: App, name: string) => ({
  name,
  namespace: app.metadata.namespace,
  labels: labelsOf(app),
});

const labelsOf = (app: App): Texts => ({
  "app.kubernetes.io/instance": app.metadata.name,
  "app.kubernetes.io/managed-by": "modoki",
  "app.kubernetes.io/name": app.metadata.name,
  "modoki-app": app.metadata.name,
  ...Object.fromEntries(
    previewLabels.flatMap((label) => {
      const value = app.metadata.labels[label];
      return value === undefined ? [] : [[label, value]];
    }),
  ),
});

/**
 * The name of an object: the Application's own if it is a valid Service name (RFC 1035: no dots, starting with a letter).
 * Otherwise, and for a second object of a kind, a name with a hash, so that it differs from those of other Applications.
 */
function nameOf(app: App, part = ""): string {
  const { name } = app.metadata;
  if (part === "" && /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) return name;
  const end = `${part === "" ? "" : `-${part}`}-${hash(`${name}/${part}`)}`;
  const start = name.replaceAll(/[^-a-z0-9]/g, "-").replace(/^(?![a-z])/, "app-");
  return `${start.slice(0, 63 - end.length).replace(/-+$/, "")}${end}`;
}

/** FNV-1a, 32 bits, as 8 hexadecimal digits. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return (value >>> 0).toString(16).padStart(8, "0");
}
