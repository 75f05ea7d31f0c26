/**
 * Kinds of which no chart may make objects, whatever a site lists. A chart gets no further than the namespace of its
 * Application, and values of Applications, which others write, end up in what it makes.
 */
import type { Kind } from "../../../bus/kube/kind.ts";
import { ownValue } from "../../../bus/values/ownvalue.ts";

const rights = "it decides who may do what";
const ours = "the platform's own functions act on it";

const groups: Readonly<Record<string, string>> = {
  "rbac.authorization.k8s.io": rights,
  "authorization.k8s.io": rights,
  "authentication.k8s.io": "it hands out tokens",
  "certificates.k8s.io": "it hands out certificates of users",
  "admissionregistration.k8s.io": "it sees and changes requests of the whole cluster",
  "apiextensions.k8s.io": "it defines kinds of the whole cluster",
  "apiregistration.k8s.io": "it defines APIs of the whole cluster",
  "coordination.k8s.io": "it decides which controller leads",
  "discovery.k8s.io": "it leads a Service to pods of other namespaces",
  "events.k8s.io": "others rely on who has written an Event",
  "kpack.io": "its builds have credentials; a RemoteSync builds images",
  "modoki.tsuzu.dev": ours,
  "ghapp.tsuzu.dev": ours,
  "pipecd.kanatakita.com": ours,
  "zundokokiyoshi.kaitoy.github.com": ours,
  "denrei.dev": ours,
};

const core: Readonly<Record<string, string>> = {
  Secret:
    "the platform has rights on Secrets in opted-in namespaces alone; an ExternalSecret or a SealedSecret makes one",
  ServiceAccount: "its annotations give pods an identity outside the cluster",
  Endpoints: "it leads a Service to pods of other namespaces",
  Event: "others rely on who has written an Event",
  ResourceQuota: "it limits the namespace",
  LimitRange: "it limits the namespace",
  Binding: "it puts pods on nodes",
};

/** Why a chart may not make objects of a kind; undefined when a site may allow it. */
export const refusedKind = ({ group, kind }: Pick<Kind, "group" | "kind">): string | undefined =>
  group === "" ? ownValue(core, kind) : ownValue(groups, group);
