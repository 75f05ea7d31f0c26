/** The Zundoko kinds in the Kubernetes API. */
import type { Hikawa, Kiyoshi, Zundoko } from "../../../../functions/zundoko/kinds.ts";
import { group, version } from "../../../../functions/zundoko/names.ts";
import { resource } from "../api/resource.ts";

export const hikawas = resource<Hikawa>(group, version, "Hikawa", "hikawas");
export const zundokos = resource<Zundoko>(group, version, "Zundoko", "zundokos");
export const kiyoshis = resource<Kiyoshi>(group, version, "Kiyoshi", "kiyoshis");
