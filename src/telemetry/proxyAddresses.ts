/** The metric that counts requests whose client's address is not known. A file of its own, so that `vitrine doctor` loads no more. */
export const proxyAddresses = "vitrine_collect_proxy_addresses_total";
