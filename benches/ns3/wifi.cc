// The benchmarks `wifi-chain` and `wifi-mesh` of Ropewalk's `speed`, on ns-3: 20 MB of TCP over two hops of 802.11b,
// all stations within carrier sense; and one TCP flow over four hops of a mesh of 32 stations for 60 s, disks of
// 20 m. Prints the application's goodput in Mbit/s and the frames sent by all stations (responses included).
//
// 802.11b at 11 Mbit/s with long preambles, responses at 11 Mbit/s too, at most four transmissions of a frame; static
// routes, no ARP traffic; TCP with SACK and timestamps, MSS 1400, buffers of 128 kB, delayed ACKs (2, 200 ms), RTO at
// least 1 s. "NewReno" counts ACKs and so grows half as fast as with bytes counted; "LinuxReno" counts bytes and
// is 3 % slower over a chain of four hops (1.29 against 1.34 Mbit/s), with more frames on the air. Every default can be changed
// from the command line: --ns3::TcpL4Protocol::SocketType=ns3::TcpLinuxReno.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/wifi-module.h"

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

struct Scene
{
    std::vector<Vector> positions;
    std::vector<uint32_t> route;
    double range;
    double seconds; // 0: until the transfer is complete
    uint64_t bytes; // 0: without end
};

// Drawn once, uniformly in 100 m x 100 m, connected, with four hops between the stations nearest to (20, 50) and (80, 50).
const std::vector<Vector> MESH = {
    {70.6, 29.5, 0}, {84.5, 25.4, 0}, {75.3, 38.2, 0}, {17.3, 28.8, 0}, {25.8, 23.5, 0}, {16.4, 5.5, 0},
    {34.2, 46.2, 0}, {68.4, 45.6, 0}, {83.0, 73.2, 0}, {72.7, 10.6, 0}, {96.2, 59.4, 0}, {77.2, 52.7, 0},
    {62.8, 62.2, 0}, {65.8, 4.1, 0},  {91.4, 87.2, 0}, {9.8, 52.3, 0},  {5.2, 11.4, 0},  {26.2, 45.7, 0},
    {49.6, 34.0, 0}, {90.3, 36.7, 0}, {6.3, 48.3, 0},  {95.9, 75.7, 0}, {0.6, 63.3, 0},  {8.2, 18.7, 0},
    {95.4, 37.4, 0}, {88.4, 55.2, 0}, {48.1, 71.3, 0}, {99.4, 55.4, 0}, {82.0, 26.8, 0}, {72.6, 92.8, 0},
    {60.8, 45.0, 0}, {34.4, 49.9, 0},
};

uint64_t g_frames = 0;
uint64_t g_received = 0;
Time g_last;

void
CountFrame(Ptr<const Packet>, double)
{
    ++g_frames;
}

void
CountBytes(uint64_t total, Ptr<const Packet> packet, const Address&)
{
    g_received += packet->GetSize();
    g_last = Simulator::Now();
    if (total != 0 && g_received >= total)
    {
        Simulator::Stop();
    }
}

Scene
Chain(uint32_t hops, uint64_t bytes)
{
    Scene scene{{}, {}, 250, 0, bytes};
    for (uint32_t k = 0; k <= hops; ++k)
    {
        scene.positions.emplace_back(5.0 * k, 0, 0);
        scene.route.push_back(k);
    }
    return scene;
}

Scene
Mesh(double seconds)
{
    return {MESH, {17, 6, 18, 30, 11}, 20, seconds, 0};
}

// Two hops of 15 m within disks of 20 m.
Scene
Hidden(double seconds)
{
    return {{{0, 0, 0}, {15, 0, 0}, {30, 0, 0}}, {0, 1, 2}, 20, seconds, 0};
}

NetDeviceContainer
Radios(const NodeContainer& nodes, const Scene& scene)
{
    MobilityHelper mobility;
    Ptr<ListPositionAllocator> positions = CreateObject<ListPositionAllocator>();
    for (const Vector& position : scene.positions)
    {
        positions->Add(position);
    }
    mobility.SetPositionAllocator(positions);
    mobility.Install(nodes);

    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::RangePropagationLossModel", "MaxRange", DoubleValue(scene.range));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue("DsssRate11Mbps"),
                                 "ControlMode", StringValue("DsssRate11Mbps"),
                                 "MaxSsrc", UintegerValue(4),
                                 "MaxSlrc", UintegerValue(4));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    return wifi.Install(phy, mac, nodes);
}

void
Route(const NodeContainer& nodes, const std::vector<uint32_t>& route)
{
    Ipv4StaticRoutingHelper helper;
    auto address = [&](uint32_t k) { return nodes.Get(route[k])->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal(); };
    auto table = [&](uint32_t k) { return helper.GetStaticRouting(nodes.Get(route[k])->GetObject<Ipv4>()); };
    const uint32_t last = route.size() - 1;
    for (uint32_t k = 0; k < last; ++k)
    {
        table(k)->AddHostRouteTo(address(last), address(k + 1), 1);
        table(k + 1)->AddHostRouteTo(address(0), address(k), 1);
    }
}

void
Flow(const NodeContainer& nodes, const Scene& scene)
{
    const uint16_t port = 5001;
    Ptr<Node> from = nodes.Get(scene.route.front());
    Ptr<Node> to = nodes.Get(scene.route.back());
    Ipv4Address address = to->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(address, port));
    source.SetAttribute("SendSize", UintegerValue(1400));
    source.SetAttribute("MaxBytes", UintegerValue(scene.bytes));
    source.Install(from);
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    sink.Install(to).Get(0)->TraceConnectWithoutContext("Rx", MakeBoundCallback(&CountBytes, scene.bytes));
}

void
Defaults()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1400));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(128 << 10));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(128 << 10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    // The whole window may wait at the first station.
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(10)));
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string name = "chain";
    uint32_t hops = 2;
    uint64_t bytes = 20'000'000;
    double seconds = 60;
    uint32_t run = 1;
    Defaults(); // before the command line, which can change each of them
    CommandLine command(__FILE__);
    command.AddValue("name", "chain, mesh or hidden (two hops of hidden stations)", name);
    command.AddValue("hops", "hops of the chain", hops);
    command.AddValue("bytes", "what the chain transfers", bytes);
    command.AddValue("seconds", "simulated time of the others", seconds);
    command.AddValue("run", "number of the random streams", run);
    command.Parse(argc, argv);
    RngSeedManager::SetRun(run);

    const Scene scene = name == "chain" ? Chain(hops, bytes) : name == "mesh" ? Mesh(seconds) : Hidden(seconds);
    NodeContainer nodes;
    nodes.Create(scene.positions.size());
    NetDeviceContainer radios = Radios(nodes, scene);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper("10.1.0.0", "255.255.0.0").Assign(radios);
    NeighborCacheHelper().PopulateNeighborCache();
    Route(nodes, scene.route);
    Flow(nodes, scene);
    Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/Phy/PhyTxBegin",
                                  MakeCallback(&CountFrame));
    Simulator::Stop(scene.seconds > 0 ? Seconds(scene.seconds) : Seconds(1000));
    Simulator::Run();
    const double elapsed = scene.seconds > 0 ? scene.seconds : g_last.GetSeconds();
    std::cout << g_received * 8e-6 / elapsed << " Mbit/s " << g_frames << " frames" << std::endl;
    Simulator::Destroy();
    return 0;
}
