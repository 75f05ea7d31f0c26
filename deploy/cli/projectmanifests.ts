/** `denrei manifests` */
import { componentsVariable, openProject, UsageError } from "denrei/runtime";
import { certificateManifests, createBusAuthority, webhookCertificates } from "../generate/certificates.ts";
import { needWebhook } from "../generate/crds.ts";
import { type LayoutOptions, projectLayout } from "../generate/layout.ts";
import { namespaceOfBus } from "../manifests/bus.ts";
import { imageNamed, projectImage } from "../manifests/image.ts";
import { needs } from "../manifests/needs.ts";
import { projectObjects } from "../manifests/objects.ts";
import { projectTree } from "../manifests/tree.ts";
import { needsServerSideApply, withCompactUsers } from "../manifests/users.ts";
import { expectTreeFolder, writeTree } from "../manifests/write.ts";
import { endingIn, projectsWith } from "./manifests.ts";
import { print } from "./print.ts";
import { furtherNamespaces, mergeRoles } from "./projectroles.ts";

/** Options of the command. */
export interface ManifestsOptions extends LayoutOptions {
  readonly namespace: string;
  readonly cluster: string;
  readonly image?: string;
  readonly oneAccount?: boolean;
  /** Default: only with the profile `small`. */
  readonly certificates?: boolean;
  /** Writes a kustomize tree to this folder instead of printing objects. */
  readonly out?: string;
  readonly json?: boolean;
  /** The bus of another project. */
  readonly natsUrl?: string;
  /** Files with the users of other projects on the bus. */
  readonly include?: readonly string[];
  /** The last word in the names of roles. */
  readonly roleSuffix?: string;
}

/**
 * Prints or writes everything that the project of the working directory needs in a cluster. Standard output is input for kubectl, so
 * advice goes to standard error. Throws a {@link UsageError} for options that contradict each other.
 */
export async function manifests(options: ManifestsOptions): Promise<void> {
  checkOptions(options);
  const { profile, oneProcess, namespace, cluster, oneAccount, out, natsUrl } = options;
  // Rendering takes seconds, so a wrong folder is rejected first.
  if (out !== undefined) await expectTreeFolder(out);
  const project = await openProject();
  const layout = await projectLayout(project, options);
  if (natsUrl !== undefined && options.certificates && !needWebhook(layout.functions))
    throw new UsageError(
      "--nats-url: the project of that bus makes all certificates, with denrei certificates --include",
    );
  const image = options.image === undefined ? await projectImage(project) : imageNamed(options.image);
  const withCertificates =
    options.certificates ?? (profile === "small" && [out, natsUrl].every((one) => one === undefined));
  const authority = createBusAuthority();
  const projects = await projectsWith(layout, cluster, options.include ?? []);
  const bus = natsUrl === undefined ? namespace : namespaceOfBus(natsUrl);
  const tree = withCompactUsers(
    await projectTree(layout, {
      profile,
      namespace,
      cluster,
      oneAccount,
      image,
      natsUrl,
      bus,
      clients: furtherNamespaces(projects, namespace),
      roles: mergeRoles(projects),
      roleSuffix: endingIn(options.roleSuffix ?? ""),
      components: process.env[componentsVariable] || undefined,
      ca: withCertificates ? authority.cert : undefined,
    }),
  );
  if (out === undefined) {
    const secrets =
      natsUrl === undefined
        ? certificateManifests(layout, namespace, { authority, projects })
        : webhookCertificates(layout, namespace, authority);
    print(await projectObjects(tree, withCertificates ? secrets : []), options);
  } else {
    await writeTree(out, tree);
    process.stdout.write(`wrote ${tree.size} files to ${out}\n`);
  }
  const flags = [
    ...(profile === "standard" ? [] : [`--profile ${profile}`]),
    ...(oneProcess ? ["--one-process"] : []),
    ...(options.include ? [`--include ${options.include.join(" ")}`] : []),
  ];
  const advice = needs({
    layout,
    namespace,
    flags,
    certificates: withCertificates ? "included" : "not included",
    bus: natsUrl === undefined ? "own" : "of another project",
    network: profile === "production" && bus === undefined ? "blocks the bus" : "open to the bus",
    apply: needsServerSideApply(tree) ? "server-side" : "any",
  });
  process.stderr.write(`${advice.join("\n")}\n`);
}

function checkOptions({ profile, oneProcess, certificates, out, natsUrl, include }: ManifestsOptions): void {
  if (oneProcess && profile !== "small")
    throw new UsageError(
      `--one-process: expected --profile small, found ${profile}, which separates processes`,
    );
  if (natsUrl !== undefined && include !== undefined)
    throw new UsageError("--nats-url: the project of that bus includes the users of others: omit --include");
  if (certificates && out !== undefined)
    throw new UsageError(
      "--certificates: private keys do not belong in a folder of manifests: leave out --out",
    );
}
