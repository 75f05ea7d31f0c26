/**
 * Kinds that no chart may make, even if a site lists them. A chart's effects must stay in the namespace of its Application:
 * users write Applications, and charts render their values.
 */
import type { Kind } from "denrei";
import { ownValue } from "denrei/values";

const rights = "it grants rights";
const ours = "the platform's own functions act on it";

const groups: Readonly<Record<string, string>> = {
  "rbac.authorization.k8s.io": rights,
  "authorization.k8s.io": rights,
  "authentication.k8s.io": "it issues tokens",
  "certificates.k8s.io": "it issues user certificates",
  "admissionregistration.k8s.io": "it sees and changes requests of the whole cluster",
  "apiextensions.k8s.io": "it defines kinds of the whole cluster",
  "apiregistration.k8s.io": "it defines APIs of the whole cluster",
  "coordination.k8s.io": "it decides which controller leads",
  "discovery.k8s.io": "it can route a Service to pods of other namespaces",
  "events.k8s.io": "other programs rely on the author of an Event",
  "kpack.io": "its builds have credentials; a RemoteSync builds images",
  "modoki.tsuzu.dev": ours,
  "ghapp.tsuzu.dev": ours,
  "pipecd.kanatakita.com": ours,
  "zundokokiyoshi.kaitoy.github.com": ours,
  "denrei.dev": ours,
};

const core: Readonly<Record<string, string>> = {
  Secret:
    "the platform has rights for Secrets only in opted-in namespaces; use an ExternalSecret or a SealedSecret",
  ServiceAccount: "its annotations give pods an identity outside the cluster",
  Endpoints: "it can route a Service to pods of other namespaces",
  Event: "other programs rely on the author of an Event",
  ResourceQuota: "it limits the namespace",
  LimitRange: "it limits the namespace",
  Binding: "it assigns pods to nodes",
};

/** Why a chart may not make objects of a kind; undefined when a site may allow it. */
export const refusedKind = ({ group, kind }: Pick<Kind, "group" | "kind">): string | undefined =>
  group === "" ? ownValue(core, kind) : ownValue(groups, group);
