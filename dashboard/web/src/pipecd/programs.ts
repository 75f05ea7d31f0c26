/** The workloads that a PipeCD object asks for. Pure. */
import { components, replicasOf } from "@denrei/functions/pipecd/controlplane/components";
import { defaultVersions } from "@denrei/functions/pipecd/defaultversions";
import type { ControlPlane, Minio, Mongo, Mysql, Piped } from "@denrei/functions/pipecd/kinds";
import type { KubeObject } from "denrei/kinds";

type Mounts = NonNullable<Piped["spec"]["volumeMounts"]>;

/** A workload, as the specification describes it. */
export interface Program {
  readonly workload: "Deployment" | "StatefulSet";
  /** The label of the workload; undefined for the only one of an object. */
  readonly component?: string;
  /** Tag of the image; undefined if the specification does not determine it. The repository may be that of a mirror. */
  readonly version: string | undefined;
  readonly replicas: number;
  readonly mounts: Mounts;
}

function ofPlane(plane: ControlPlane): readonly Program[] {
  const { version, envoyVersion, redisVersion, volumeMounts = [] } = plane.spec;
  const { profile } = plane.status ?? {};
  const versions = {
    gateway: envoyVersion ?? (profile && defaultVersions.envoy[profile]),
    server: version,
    cache: redisVersion ?? defaultVersions.redis,
    ops: version,
  };
  return components.map((component) => ({
    workload: "Deployment",
    component,
    version: versions[component],
    replicas: replicasOf(plane, component),
    mounts: component === "cache" ? [] : volumeMounts,
  }));
}

const ofStore =
  (store: "minio" | "mongo" | "mysql") =>
  ({ spec }: Minio | Mongo | Mysql): readonly Program[] => [
    { workload: "StatefulSet", version: spec.version ?? defaultVersions[store], replicas: 1, mounts: [] },
  ];

const ofPiped = ({ spec }: Piped): readonly Program[] => [
  { workload: "Deployment", version: spec.version, replicas: 1, mounts: spec.volumeMounts ?? [] },
];

const readers: Readonly<Record<string, (object: never) => readonly Program[]>> = {
  ControlPlane: ofPlane,
  Piped: ofPiped,
  Minio: ofStore("minio"),
  Mongo: ofStore("mongo"),
  Mysql: ofStore("mysql"),
};

/** The workloads of an object; none for kinds that exist only in PipeCD. */
export const programsOf = (object: KubeObject): readonly Program[] =>
  readers[object.kind]?.(object as never) ?? [];
