/** The metrics that `vitrine doctor` reads. A file of its own, so that it loads no more. */
export const proxyAddresses = "vitrine_collect_proxy_addresses_total";
export const untrustedProxies = "vitrine_untrusted_proxies_total";
