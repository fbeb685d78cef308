#!/bin/sh
# Hosts that run DCTCP
set -e
modprobe tcp_dctcp
sysctl -q -w net.ipv4.tcp_congestion_control=dctcp
sudo sysctl -w net.ipv4.tcp_ecn=1 || exit 1
echo 0 > /proc/sys/net/ipv4/tcp_ecn_fallback
sysctl -w net.ipv4.tcp_rmem="4096 131072 16777216" net.ipv4.tcp_wmem='4096 65536 16777216'
ip link set dev "$1" mtu 9000
