// The benchmarks `single` and `dumbbell` of Ropewalk's `speed`, on ns-3: one bulk TCP flow over 1 Gbit/s and
// 1 ms, or eight over a 1 Gbit/s, 20 ms dumbbell, for 10 s. Prints the packet-hops: packets received by any
// point-to-point device.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <cstdint>
#include <iostream>
#include <string>

using namespace ns3;

namespace
{

uint64_t g_hops = 0;

void
CountHop(Ptr<const Packet>)
{
    ++g_hops;
}

NetDeviceContainer
Join(Ptr<Node> a, Ptr<Node> b, const std::string& rate, const std::string& delay)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000p"));
    return link.Install(a, b);
}

void
Address(const NetDeviceContainer& devices, uint32_t subnet)
{
    std::string base = "10." + std::to_string(subnet / 256) + "." + std::to_string(subnet % 256) + ".0";
    Ipv4AddressHelper(base.c_str(), "255.255.255.0").Assign(devices);
}

void
Flow(Ptr<Node> from, Ptr<Node> to, double seconds)
{
    const uint16_t port = 5001;
    Ipv4Address address = to->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(address, port));
    source.SetAttribute("SendSize", UintegerValue(65536));
    source.Install(from).Stop(Seconds(seconds));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    sink.Install(to);
}

void
Single(double seconds)
{
    NodeContainer nodes;
    nodes.Create(2);
    InternetStackHelper().Install(nodes);
    Address(Join(nodes.Get(0), nodes.Get(1), "1Gbps", "1ms"), 1);
    Flow(nodes.Get(0), nodes.Get(1), seconds);
}

void
Dumbbell(double seconds)
{
    const uint32_t pairs = 8;
    NodeContainer routers;
    NodeContainer left;
    NodeContainer right;
    routers.Create(2);
    left.Create(pairs);
    right.Create(pairs);
    InternetStackHelper stack;
    stack.InstallAll();
    Address(Join(routers.Get(0), routers.Get(1), "1Gbps", "20ms"), 1);
    for (uint32_t k = 0; k < pairs; ++k)
    {
        Address(Join(left.Get(k), routers.Get(0), "10Gbps", "10us"), 10 + k);
        Address(Join(right.Get(k), routers.Get(1), "10Gbps", "10us"), 100 + k);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    for (uint32_t k = 0; k < pairs; ++k)
    {
        Flow(left.Get(k), right.Get(k), seconds);
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string name = "single";
    double seconds = 10;
    CommandLine command(__FILE__);
    command.AddValue("name", "single or dumbbell", name);
    command.AddValue("seconds", "simulated time", seconds);
    command.Parse(argc, argv);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpCubic"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6 << 20));
    name == "dumbbell" ? Dumbbell(seconds) : Single(seconds);
    Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::PointToPointNetDevice/MacRx",
                                  MakeCallback(&CountHop));
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    Simulator::Destroy();
    std::cout << g_hops << std::endl;
    return 0;
}
