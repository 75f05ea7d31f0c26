/** The Zundoko kinds in the Kubernetes API. */
import type { Hikawa, Kiyoshi, Zundoko } from "@denrei/functions/zundoko/kinds";
import { group, version } from "@denrei/functions/zundoko/names";
import { resource } from "../api/resource.ts";

export const hikawas = resource<Hikawa>(group, version, "Hikawa", "hikawas");
export const zundokos = resource<Zundoko>(group, version, "Zundoko", "zundokos");
export const kiyoshis = resource<Kiyoshi>(group, version, "Kiyoshi", "kiyoshis");
