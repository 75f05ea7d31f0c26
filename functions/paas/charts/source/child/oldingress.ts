/** Converts Ingresses of the first cdk8s, in `networking.k8s.io/v1beta1`, which Kubernetes 1.22 removed. Pure. */

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The fields of an Ingress in `networking.k8s.io/v1`, from either version. */
export function modernIngress(fields: Fields): Fields {
  const { spec } = fields;
  if (!isFields(spec)) return fields;
  const { backend, rules, ...rest } = spec;
  return {
    ...fields,
    spec: {
      ...rest,
      ...(backend !== undefined && { defaultBackend: modernBackend(backend) }),
      ...(rules !== undefined && { rules: each(rules, modernRule) }),
    },
  };
}

const each = (list: unknown, change: (item: unknown) => unknown): unknown =>
  Array.isArray(list) ? list.map(change) : list;

function modernRule(rule: unknown): unknown {
  if (!isFields(rule) || !isFields(rule.http)) return rule;
  return { ...rule, http: { ...rule.http, paths: each(rule.http.paths, modernPath) } };
}

/** In v1beta1, pathType is optional and has this default. */
const modernPath = (path: unknown): unknown =>
  isFields(path)
    ? { pathType: "ImplementationSpecific", ...path, backend: modernBackend(path.backend) }
    : path;

function modernBackend(backend: unknown): unknown {
  if (!isFields(backend) || backend.serviceName === undefined) return backend;
  const { serviceName, servicePort, ...rest } = backend;
  const port = typeof servicePort === "string" ? { name: servicePort } : { number: servicePort };
  return { ...rest, service: { name: serviceName, port } };
}
